import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createWorker } from '../../../src/worker/create-worker.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';

/** A worker as applications start it, with a tool that takes a while: to be killed. Its parent gives servers and configuration. */
const worker = await createWorker({
  tools: [
    defineTool({
      name: 'hold',
      description: 'Takes a while.',
      input: z.object({ milliseconds: z.number() }),
      effect: 'none',
      run: async ({ milliseconds }, { signal }) => {
        await delay(milliseconds, undefined, { signal });
        return { content: 'held' };
      },
    }),
  ],
  shutdownGraceMilliseconds: 1_000,
});
process.once('disconnect', () => worker.shutdown());
process.send?.(worker.identity);
await worker.ended;
process.exit(0);
