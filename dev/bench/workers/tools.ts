import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { BODY_MILLISECONDS } from './settings.ts';

const A_DAY = 24 * 60 * 60 * 1_000;

export const pause = async (): Promise<void> => sleep(BODY_MILLISECONDS);

export const TOOLS = [
  /** The tool of every benchmark: takes 20 ms and says little. */
  defineTool({
    name: 'pause',
    description: 'Waits for a moment.',
    input: z.object({ n: z.string() }),
    effect: 'none',
    async run({ n }) {
      await pause();
      return { content: `paused, number ${n}` };
    },
  }),
  /** Takes a while: its worker is killed meanwhile. */
  defineTool({
    name: 'hold',
    description: 'Takes a while.',
    input: z.object({ milliseconds: z.number() }),
    effect: 'none',
    async run({ milliseconds }, { signal }) {
      await sleep(milliseconds, undefined, { signal });
      return { content: 'held' };
    },
  }),
  /** Keeps a turn open until it is stopped. */
  defineTool({
    name: 'rest',
    description: 'Waits for long.',
    input: z.object({}),
    effect: 'none',
    timeout: A_DAY,
    async run(_, { signal }) {
      await sleep(A_DAY, undefined, { signal });
      return { content: 'rested' };
    },
  }),
];
