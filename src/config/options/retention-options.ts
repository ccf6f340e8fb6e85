import { z } from 'zod';

const positive = z.number().int().positive();

const rule = {
  days: positive.max(36_500).optional().meta({
    description: 'Days after its last activity at which an idle conversation is deleted.',
    unit: 'days',
    defaultText: 'kept for ever',
  }),
};

/** What upkeep deletes. */
export const retentionSchema = z.strictObject({
  ...rule,
  timelineDays: positive.max(36_500).optional().meta({
    description:
      "Days after a turn's end at which its events, the tries of its steps and its commands are deleted; those of the newest turn with an answer go with the next one's.",
    unit: 'days',
    defaultText: 'kept with the conversation',
  }),
  agents: z.record(z.string(), z.strictObject(rule)).optional().meta({
    description: 'Rules of single agents, by name, instead of the ones above. An empty rule keeps everything.',
  }),
});
