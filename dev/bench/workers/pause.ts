import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { BODY_MILLISECONDS } from './settings.ts';

export const pause = async (): Promise<void> => sleep(BODY_MILLISECONDS);

/** The tool of every benchmark: takes 20 ms and says little. */
export const pauseTool = defineTool({
  name: 'pause',
  description: 'Waits for a moment.',
  input: z.object({ n: z.string() }),
  effect: 'none',
  async run({ n }) {
    await pause();
    return { content: `paused, number ${n}` };
  },
});

/** Keeps a turn open until it is stopped. */
export const restTool = defineTool({
  name: 'rest',
  description: 'Waits for long.',
  input: z.object({}),
  effect: 'none',
  timeout: 24 * 60 * 60 * 1_000,
  async run(_, { signal }) {
    await sleep(24 * 60 * 60 * 1_000, undefined, { signal });
    return { content: 'rested' };
  },
});
