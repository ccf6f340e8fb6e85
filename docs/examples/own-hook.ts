import type { BeforeCompaction } from 'holdfast';

/** Tells the summarizing model what this application needs most; the answer of the hook before is kept in `details`. */
export const nameTheTicket: BeforeCompaction = ({ entriesToSummarize, previousDetails }) => {
  const said = entriesToSummarize.flatMap(({ content }) =>
    content.map((part) => (part.type === 'text' ? part.text : '')),
  );
  const ticket = /TICKET-\d+/.exec(said.join('\n'))?.[0] ?? previousDetails;
  if (typeof ticket !== 'string') return undefined;
  return { details: ticket, contextLines: { prepend: [`The conversation is about ${ticket}: name it first.`] } };
};
