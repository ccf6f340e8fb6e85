import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { UPDATE_PLAN } from '../runtime/names.ts';

/** The plan stays in every request, so it must stay small: items, and characters of each. */
const MOST_ITEMS = 100;
const LONGEST_ITEM = 500;

const MARKS = { open: '[ ]', in_progress: '[~]', done: '[x]' } as const;

export const updatePlan = defineTool({
  name: UPDATE_PLAN,
  description:
    'Replaces your plan, which stays in view for the whole task whatever else is shortened. Use it for work of several ' +
    'steps: list all of them, keep one in progress, and mark each done at once.',
  input: z.strictObject({
    items: z
      .array(
        z.strictObject({
          text: z.string().min(1).max(LONGEST_ITEM).describe('What is to be done, in one line.'),
          state: z.enum(['open', 'in_progress', 'done']),
        }),
      )
      .max(MOST_ITEMS)
      .describe('The whole plan in order; an empty list removes it.'),
  }),
  effect: 'idempotent',
  exclusive: true,
  run({ items }) {
    const plan = items.map(({ text, state }) => `- ${MARKS[state]} ${text.replaceAll(/\s+/g, ' ').trim()}`).join('\n');
    const done = items.filter(({ state }) => state === 'done').length;
    const content = items.length === 0 ? 'The plan is empty now.' : `Plan updated: ${done} of ${items.length} done.`;
    return Promise.resolve({ content, plan });
  },
});
