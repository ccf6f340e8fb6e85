// A worker of the soak: Holdfast's own tools and three whose effects are lines of a journal outside Postgres.
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createWorker, defineTool } from '../../dist/index.js';

const journal = process.env['SOAK_JOURNAL'] ?? '';

/**
 * @param {string} name
 * @param {'idempotent' | 'once'} effect
 * @param {string} description
 */
function journalTool(name, effect, description) {
  return defineTool({
    name,
    description,
    input: z.object({ item: z.union([z.string(), z.number()]).describe('What it is about.') }),
    effect,
    async run({ item }, { idempotencyKey, attempt, signal }) {
      await delay(150, undefined, { signal });
      // The effect: in the world from here on, whatever becomes of this process.
      appendFileSync(journal, `${JSON.stringify({ tool: name, effect, key: idempotencyKey, attempt })}\n`);
      await delay(150, undefined, { signal });
      return { content: `${name} of ${item} is done.` };
    },
  });
}

const worker = await createWorker({
  tools: [
    journalTool('charge', 'once', 'Charges a card. It must never happen twice.'),
    journalTool('wire', 'once', 'Sends money, once a person has allowed it. It must never happen twice.'),
    journalTool('set_state', 'idempotent', 'Sets a state at a service that knows repeated requests by their key.'),
  ],
  shutdownGraceMilliseconds: Number(process.env['SOAK_GRACE_MILLISECONDS']),
});
process.once('SIGTERM', () => worker.shutdown());
await worker.ended;
