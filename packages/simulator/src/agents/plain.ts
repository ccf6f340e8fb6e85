import type { Draft } from '../core/answer.ts';
import type { Random } from '../core/random.ts';
import { oneLine } from '../summary/observations.ts';
import type { Assignment } from './conversation.ts';

/** Characters of the user's words that an answer repeats. */
const ECHO_CHARACTERS = 200;

/** Characters of a tool result that an answer repeats. */
const RESULT_CHARACTERS = 120;

/** A short answer to anything that is no instruction: what was understood, and what the tools said since. */
export function plainDraft(assignment: Assignment | undefined, random: Random): Draft {
  if (assignment === undefined)
    return {
      text: random.pick(['Nothing was asked yet.', 'There is no question in this conversation yet.']),
      calls: [],
    };
  const asked = oneLine(assignment.text, ECHO_CHARACTERS);
  const results = assignment.since.flatMap((event) =>
    event.kind === 'call' && event.result !== undefined ? [event] : [],
  );
  const opening = random.pick([`You asked: “${asked}”.`, `Understood: “${asked}”.`, `This is about “${asked}”.`]);
  const newest = results.at(-1)?.result;
  if (newest === undefined)
    return { text: `${opening} ${random.pick(['I need no tool for that.', 'That needs no tool.'])}`, calls: [] };
  return {
    text: `${opening} ${results.length} tool results so far; the newest says: “${oneLine(newest.text, RESULT_CHARACTERS)}”.`,
    calls: [],
  };
}
