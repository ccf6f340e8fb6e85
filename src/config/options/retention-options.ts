import { z } from 'zod';

const positive = z.number().int().positive();

const rule = {
  days: positive.max(36_500).optional().meta({
    description: 'Idle conversations are deleted so many days after their last activity.',
    unit: 'days',
    defaultText: 'never',
  }),
};

/** What upkeep deletes. */
export const retentionSchema = z.strictObject({
  ...rule,
  timelineDays: positive.max(36_500).optional().meta({
    description:
      "A turn's events, model attempts and commands are deleted so many days after its end. Those of the newest answered turn stay until the next.",
    unit: 'days',
    defaultText: 'never',
  }),
  agents: z.record(z.string(), z.strictObject(rule)).optional().meta({
    description: 'Rules of single agents, by name, in place of `retention.days`. An empty rule keeps everything.',
  }),
});
