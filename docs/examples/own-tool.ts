// A worker with a tool and an agent of one's own. Run it beside `npx holdfast dev`, or with DATABASE_URL and
// TEMPORAL_ADDRESS set: `npx tsx own-tool.ts`.
import { createClient, createWorker, defineAgent, defineTool } from 'holdfast';
import { z } from 'zod';

const convert = defineTool({
  name: 'convert_temperature',
  description: 'Converts degrees Celsius to degrees Fahrenheit.',
  input: z.object({ celsius: z.number().describe('degrees Celsius') }),
  // Reads nothing and changes nothing, so it may run again after a crash.
  effect: 'none',
  timeout: 5_000,
  run: async ({ celsius }, { signal }) => {
    signal.throwIfAborted();
    return { content: `${celsius} °C are ${(celsius * 9) / 5 + 32} °F` };
  },
});

const agent = defineAgent({
  name: 'thermometer',
  model: process.env['HOLDFAST_MODEL'] ?? 'simulator/sim-32k',
  instructions: 'You answer questions about temperatures.',
  tools: [convert],
});

const { DATABASE_URL: databaseUrl = '', TEMPORAL_ADDRESS: address = '127.0.0.1:7233' } = process.env;
const taskQueue = process.env['HOLDFAST_TASK_QUEUE'] ?? 'agent-turn';
const worker = await createWorker({ agents: [agent], tools: [convert], taskQueue });
const client = await createClient({ databaseUrl, temporal: { address, namespace: 'default' }, taskQueue });

const sent = await client.startTask({
  agent: 'thermometer',
  task: 'Call convert_temperature with {"celsius": 21}',
});
const turn = await client.waitForOutcome({ ...sent, timeoutMilliseconds: 60_000 });
const entries = await client.listEntries({ conversationId: sent.conversationId });
const answer = entries
  .at(-1)
  ?.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  .join('\n');
console.log(`${turn.outcome}: ${answer}`);

await client.close();
worker.shutdown();
await worker.ended;
