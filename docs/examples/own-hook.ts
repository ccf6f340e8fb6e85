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

/** Closes a ticket without a model: its entries become one sentence, and all behind them stays as it is. */
export const closeTheTicket: BeforeCompaction = ({ entriesToSummarize }) => {
  const closing = entriesToSummarize.findLastIndex(({ content }) =>
    content.some((part) => part.type === 'text' && part.text.includes('TICKET CLOSED')),
  );
  const next = entriesToSummarize[closing + 1];
  if (closing === -1 || next === undefined) return undefined;
  return { summary: 'The tickets before were closed.', firstKeptEntryId: next.id };
};
