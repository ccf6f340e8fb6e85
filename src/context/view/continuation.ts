import type { ContentPart } from '../log/content.ts';
import { LINES } from '../log/frames.ts';
import type { CompactionForm } from '../plan/plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import type { RecallOptions } from './placeholders.ts';

/**
 * The note that follows a pass inside a turn. Without it models take the shorter context for a
 * finished task: of 43 e-mails, 30 were read (seeds/wolffish.md).
 */
export function continuationText(options: RecallOptions = {}): string {
  const lookUp =
    options.recall === false
      ? 'Trust the values in the summary; repeat a call only if a value that you need is nowhere in your context.'
      : 'Trust the values in the summary; when you need a detail that is no longer here, look it up with recall_search ' +
        'or recall_open instead of repeating the call that produced it.';
  return [
    LINES.compacted,
    'The context was compacted to make room: older messages are summarized, or shown shortened. The task is not ' +
      'finished because of that. Continue where you left off.',
    'Do not give a final answer until all steps are complete. Do not redo completed work.',
    lookUp,
  ].join('\n');
}

/** @param text the policy's own words; `null` for those of `continuationText` */
export function continuationContent(text: string | null, options: RecallOptions = {}): readonly ContentPart[] {
  return [{ type: 'text', text: text ?? continuationText(options) }];
}

/** The policy's own words after a pass of a form; `null` for those of `continuationText`. */
export function continuationWords({ continuationText: own }: CompactionPolicy, form: CompactionForm): string | null {
  if (own === null || typeof own === 'string') return own;
  switch (form) {
    case 'summary':
    case 'shorter_summary':
      return own.afterSummary;
    case 'extractive_summary':
      return own.afterExtract;
    case 'reduction':
    case 'clip_only':
      return own.withoutSummary;
  }
}
