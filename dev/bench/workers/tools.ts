import { appendFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { ABORTS, BODY_MILLISECONDS, JOURNAL } from './settings.ts';

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
  /** Takes a while: its worker is killed meanwhile, or it is aborted and writes down when. */
  defineTool({
    name: 'hold',
    description: 'Takes a while.',
    input: z.object({ milliseconds: z.number() }),
    effect: 'none',
    async run({ milliseconds }, { signal, workspace }) {
      signal.addEventListener('abort', () => appendFileSync(join(workspace, ABORTS), `${Date.now()}\n`), {
        once: true,
      });
      await sleep(milliseconds, undefined, { signal });
      return { content: 'held' };
    },
  }),
  /** Acts outside Postgres, once. */
  defineTool({
    name: 'charge',
    description: 'Charges a card. It must never happen twice.',
    input: z.object({ item: z.string() }),
    effect: 'once',
    async run({ item }, { workspace, idempotencyKey, signal }) {
      await sleep(150, undefined, { signal });
      const effect = { tool: 'charge', effect: 'once', key: idempotencyKey };
      await appendFile(join(workspace, JOURNAL), `${JSON.stringify(effect)}\n`);
      await sleep(150, undefined, { signal });
      return { content: `charged for ${item}` };
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
