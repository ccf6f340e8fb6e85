// A worker with a tool and an agent of its own. In an empty folder:
//
//   npm init --yes && npm pkg set type=module && npm install holdfast zod tsx
//   cp node_modules/holdfast/docs/examples/own-tool.ts .
//   npx holdfast dev                                       leave it running, and use another terminal
//   HOLDFAST_LOG_LEVEL=error npx tsx own-tool.ts
//
// Without a key for a real model the answer is the simulator's, which is scripted: it calls the tool that stands behind "Call".
import { connect, createWorker, defineAgent, defineTool } from 'holdfast';
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
  instructions: 'You answer questions about temperatures.',
  tools: [convert],
});

// A task queue of its own, so that this worker gets no other turns and ends when its task has. Commands reach it with
// HOLDFAST_TASK_QUEUE=thermometer.
const taskQueue = 'thermometer';
const worker = await createWorker({ agents: [agent], tools: [convert], taskQueue });
const holdfast = await connect({ taskQueue });

const task = await holdfast.start('Call convert_temperature with {"celsius": 21}', { agent: 'thermometer' });
const { outcome, text, explanation } = await task.result({ timeoutMilliseconds: 60_000 });
console.log(`${outcome}: ${text}`);
console.log(explanation);

await holdfast.close();
worker.shutdown();
await worker.ended;
