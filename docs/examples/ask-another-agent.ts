// A tool that gives a task to another agent, in a conversation of its own, and waits for the answer.
import { connect, defineTool } from 'holdfast';
import { z } from 'zod';

const holdfast = await connect(); // once per process

export const research = defineTool({
  name: 'research',
  description: 'Lets a researcher answer a question. Takes minutes.',
  input: z.object({ question: z.string() }),
  effect: 'idempotent', // a call that runs again finds the conversation that it started, by the start key
  timeout: 3_600_000,
  async run({ question }, { idempotencyKey, signal }) {
    const task = await holdfast.start(question, { agent: 'researcher', startKey: idempotencyKey });
    const { outcome, reason, text, explanation } = await task.result({ signal });
    // A reason beside `completed` means that the answer is cut or not of its form.
    const isWhole = outcome === 'completed' && reason === null;
    return isWhole ? { content: text } : { content: explanation, isError: true };
  },
});
