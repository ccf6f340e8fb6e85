import type { ContentPart } from './content.ts';

/**
 * The message that stands in the view for the entries before the cut. It tells the model that the
 * text is a record and not a request, and that requests shown again below it may be done already,
 * so that nothing is answered twice (R17).
 */
export function summaryContent(text: string): readonly ContentPart[] {
  return [{ type: 'text', text: `${OPENING}\n\n${text}\n\n${CLOSING}` }];
}

const OPENING =
  '[Summary of the earlier conversation]\n' +
  'Older messages were taken out to make room. This summary stands for them; trust its facts instead of redoing work.';

const CLOSING =
  '[End of summary]\n' +
  "User messages that follow right after this are older ones, repeated word for word: the summary's request and outcome " +
  'pairs tell which of them are done. Answer only what is still open.';
