import type { ContentPart } from '../log/content.ts';
import { LINES, quoteText } from '../log/frames.ts';

/** The note after an answer that was cut at the maximum output; the next step goes on from it. */
export function cutAnswerContent(): readonly ContentPart[] {
  return note(
    LINES.answerCut,
    'Your answer reached the maximum output and was cut there. Go on exactly where it ends, without repeating any of it.',
  );
}

/** The note after an answer that ended with the announcement of a tool call. */
export function missingCallContent(): readonly ContentPart[] {
  return note(
    LINES.callMissing,
    'Your answer said that it calls a tool, but no call came with it. Call the tool, or give your final answer.',
  );
}

/** The note after an answer that is not the JSON that was asked for. */
export function invalidOutputContent(problem: string): readonly ContentPart[] {
  return note(
    LINES.answerRefused,
    `Your final answer is not of the form that was asked for: ${quoteText(problem)}. Give it again, as the JSON alone.`,
  );
}

function note(line: string, words: string): readonly ContentPart[] {
  return [{ type: 'text', text: `${line}\n${words}` }];
}
