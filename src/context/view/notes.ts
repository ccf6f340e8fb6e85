import type { ContentPart } from '../log/content.ts';
import { LINES, frame, quoteText, tagsOf } from '../log/frames.ts';
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

/** Where a turn stands, as its model is told at the end of each request. */
export interface RuntimeNote {
  /** Model calls of the turn, the one that is made now included. */
  readonly iteration: number;
  readonly toolCalls: number;
}

/**
 * Numbers that change with every request, so they stand behind the cache mark and are no entry of
 * the log; the advice that goes with them is part of the system prompt.
 */
export function runtimeContent({ iteration, toolCalls }: RuntimeNote): readonly ContentPart[] {
  const counts = `  Tool iteration this turn: ${iteration}\n  Tools called this turn: ${toolCalls}`;
  return [{ type: 'text', text: frame('runtime', counts) }];
}

/** The note after an answer that was cut at the maximum output; the next step goes on from it. */
export function cutAnswerContent(): readonly ContentPart[] {
  return note(
    LINES.answerCut,
    'Your answer reached the maximum output and was cut there. Go on exactly where it ends, without repeating any of it.',
  );
}

export function missingCallContent(): readonly ContentPart[] {
  return note(
    LINES.callMissing,
    'Your answer said that it calls a tool, but no call came with it. Call the tool, or give your final answer.',
  );
}

export function invalidOutputContent(problem: string): readonly ContentPart[] {
  return note(
    LINES.answerRefused,
    `Your final answer is not of the form that was asked for: ${quoteText(problem)}. Give it again, as the JSON alone.`,
  );
}

function note(line: string, words: string): readonly ContentPart[] {
  return [{ type: 'text', text: `${line}\n${words}` }];
}

/** The result of a call that is not shown, among messages of the user: no provider takes one as a result. */
export function earlierResult(toolName: string, content: readonly ContentPart[]): readonly ContentPart[] {
  const { open, close } = tagsOf('earlierResult', { tool: toolName, call: 'not shown' });
  const quoted = content.map((part) => (part.type === 'text' ? textPart(quoteText(part.text)) : part));
  return [textPart(open), ...quoted, textPart(close)];
}

function textPart(text: string): ContentPart {
  return { type: 'text', text };
}
