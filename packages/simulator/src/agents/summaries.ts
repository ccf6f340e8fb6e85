import type { ConversationEvent } from './conversation.ts';

const SUMMARY_QUESTION = /^\s*What did we do so far\?\s*$/i;

/** Summaries of what was compacted away: texts that say so, and answers to the question what was done. */
export function summariesIn(events: readonly ConversationEvent[]): readonly string[] {
  return events.flatMap((event, index) => {
    if (event.kind === 'user') return event.textKind === 'summary' ? [event.text] : [];
    const before = events[index - 1];
    const isAsked = before?.kind === 'user' && SUMMARY_QUESTION.test(before.text);
    return event.kind === 'assistant' && isAsked ? [event.text] : [];
  });
}
