import { resolveAmount } from '../policy/budget.ts';
import { headOf } from '../plan/clip.ts';
import { estimateTokens, NO_CALIBRATION } from '../log/estimate.ts';
import { frame } from '../log/frames.ts';
import { fileArguments } from '../log/identifiers.ts';
import { measureText } from '../log/measure.ts';
import { formatCount } from '../view/placeholders.ts';
import type { Budget } from '../plan/plan.ts';
import type { TokenAmount } from '../policy/policy.ts';

/** A finished tool call whose result a summary stands for. Holds nothing of what the tool put out: that is data, not record (R29). */
export interface LedgerResult {
  /** Of the result. */
  readonly entryId: string;
  readonly tool: string;
  /** The file that the call names, or its first argument, on one line. */
  readonly target: string;
  readonly outcome: 'succeeded' | 'failed' | 'outcome_unknown' | 'not_run';
  /** Of the result. */
  readonly characters: number;
}

/** Results that are remembered beside a summary; what a view shows of them is limited in tokens besides. */
export const LEDGER_LENGTH = 100;
/** About what a line takes, most of it for the id. */
export const LEDGER_LINE_TOKENS = 50;
const TARGET_CHARACTERS = 100;
/** About fifty lines in a large window, a dozen in one of 32,000 tokens. */
const SIZE: TokenAmount = { tokens: 2_000, fraction: 0.02, of: 'input_budget' };

/** What a call was about, whole: secrets are taken out of it before it is cut, for a part of one has no form any more. */
export function callSubject(argumentsText: string): string {
  const [file] = fileArguments(argumentsText);
  return file ?? firstText(argumentsText);
}

export function shortSubject(subject: string): string {
  const line = subject.replaceAll(/\s+/g, ' ').trim();
  return line.length <= TARGET_CHARACTERS ? line : `${headOf(line, TARGET_CHARACTERS).trimEnd()} …`;
}

function firstText(argumentsText: string): string {
  try {
    const value: unknown = JSON.parse(argumentsText);
    if (typeof value !== 'object' || value === null) return '';
    return Object.values(value).find((item): item is string => typeof item === 'string') ?? '';
  } catch {
    // Arguments that are not JSON were never carried out.
    return '';
  }
}

/**
 * The ledger after a pass, oldest first: what it was before, and the results that leave the view now. The same call with a
 * result of the same size is listed once, where it was made last.
 */
export function extendLedger(earlier: readonly LedgerResult[], left: readonly LedgerResult[]): readonly LedgerResult[] {
  const newest = new Map<string, LedgerResult>();
  for (const result of [...earlier, ...left]) {
    const call = JSON.stringify([result.tool, result.target, result.characters]);
    newest.delete(call);
    newest.set(call, result);
  }
  return [...newest.values()].slice(-LEDGER_LENGTH);
}

export function ledgerSize(budget: Budget): number {
  return resolveAmount(SIZE, budget);
}

/**
 * The newest results as they stand below a summary (R18): what was done and where its outcome is, so that nothing is read
 * again only because its result left the view. Empty when not a line fits.
 *
 * @param of.recall whether the agent can open a result by its id
 */
export function renderLedger(
  results: readonly LedgerResult[],
  of: { readonly maximumTokens: number; readonly recall: boolean },
): string {
  const tokens = (text: string): number => estimateTokens(measureText(text), NO_CALIBRATION);
  const heading = of.recall
    ? 'Results that are no longer shown, newest last; recall_open with the id shows one again:'
    : 'Results that are no longer shown, newest last:';
  let left = of.maximumTokens - tokens(frame('earlierResults', heading));
  const lines: string[] = [];
  for (const result of results.toReversed()) {
    const line = ledgerLine(result, of.recall);
    left -= tokens(`${line}\n`);
    if (left < 0) break;
    lines.unshift(line);
  }
  return lines.length === 0 ? '' : frame('earlierResults', [heading, ...lines].join('\n'));
}

const OUTCOMES: Readonly<Record<LedgerResult['outcome'], string>> = {
  succeeded: '',
  failed: 'failed, ',
  outcome_unknown: 'outcome unknown, ',
  not_run: 'not run, ',
};

function ledgerLine({ tool, target, outcome, characters, entryId }: LedgerResult, recall: boolean): string {
  const call = target === '' ? tool : `${tool} ${target}`;
  return `${call}: ${OUTCOMES[outcome]}${formatCount(characters)} characters${recall ? ` (${entryId})` : ''}`;
}
