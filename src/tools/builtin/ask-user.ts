import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { ToolError } from '../errors.ts';
import { ASK_USER } from '../runtime/names.ts';

/** Characters of a question: a person reads it in a terminal. */
const LONGEST_QUESTION = 4_000;

/**
 * Asks the user and waits. The turn waits in its workflow, where no worker is held, and the call's result is the answer
 * from Postgres; so `run` is never reached in a turn.
 */
export const askUser = defineTool({
  name: ASK_USER,
  description:
    'Asks the user a question and waits for the answer, which may take hours. Use it only when you cannot go on without ' +
    'something that only the user knows or decides; ask everything you need in one question.',
  input: z.strictObject({
    question: z
      .string()
      .min(1)
      .max(LONGEST_QUESTION)
      .describe('The whole question, with the choices if there are some.'),
  }),
  effect: 'none',
  run() {
    throw new ToolError('not_in_a_turn', 'Nobody can be asked here: the user answers only in a turn.');
  },
});
