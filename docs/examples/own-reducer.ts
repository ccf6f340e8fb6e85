import { clear, defineReducer } from 'holdfast';
import { z } from 'zod';

/** Of the results of some tools, only the newest stay: an older one says nothing that a newer one does not. */
export const newestPerTool = defineReducer({
  name: 'newest_per_tool',
  options: z.object({ tools: z.array(z.string()), keep: z.number().int().min(1) }),
  plan: ({ entries }, { tools, keep }) =>
    tools.flatMap((tool) => {
      const results = entries.filter((entry) => entry.toolName === tool && entry.shown !== 'clear');
      return results.slice(0, -keep).map((entry) => clear(entry.id));
    }),
});
