import type { ContentPart } from '../log/content.ts';
import { LINES } from '../log/frames.ts';

/** The note after an answer that was cut at the maximum output; the next step goes on from it. */
export function cutAnswerContent(): readonly ContentPart[] {
  return [
    {
      type: 'text',
      text: `${LINES.answerCut}\nYour answer reached the maximum output and was cut there. Go on exactly where it ends, without repeating any of it.`,
    },
  ];
}
