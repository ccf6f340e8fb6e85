import { diffLines } from 'diff';
import { HoldfastClientError } from './errors.ts';
import type { StoredSummary, SummaryDifference } from './types.ts';

/** Generations; without them the one in force and the one that it updates. */
interface Pair {
  readonly older?: number;
  readonly newer?: number;
}

/** @throws HoldfastClientError `invalid_argument` if there are no two such summaries */
export function differenceOf(all: readonly StoredSummary[], pair: Pair): SummaryDifference {
  const written = all.filter(({ text }) => text !== null);
  const [older, newer] = choose(written, pair);
  const changes = diffLines(`${older.text ?? ''}\n`, `${newer.text ?? ''}\n`).map(({ value, added, removed }) => ({
    kind: added ? ('added' as const) : removed ? ('removed' as const) : ('equal' as const),
    text: value.replace(/\n$/u, ''),
  }));
  return { older, newer, changes };
}

/** Of several branches the newest two may have nothing to do with each other. */
function choose(written: readonly StoredSummary[], pair: Pair): readonly [StoredSummary, StoredSummary] {
  const newer = pair.newer === undefined ? written.find(({ inForce }) => inForce) : named(written, pair.newer);
  const before = pair.older ?? newer?.updatesGeneration ?? null;
  const older = before === null ? undefined : named(written, before);
  if (newer !== undefined && older !== undefined) return [older, newer];
  if (written.length < 2) {
    throw refused(
      `Two summaries are needed to compare, and the conversation has ${written.length === 0 ? 'none' : 'one'}`,
      '`npx holdfast summaries <conversation>` lists them.',
    );
  }
  const what =
    newer === undefined
      ? 'No summary is in force on the active branch'
      : `The summary of generation ${newer.generation} updates no other: it is the first of its branch`;
  throw refused(what, `Name two, with --diff like 1:3. ${known(written)}`);
}

function named(written: readonly StoredSummary[], generation: number): StoredSummary {
  const found = written.find((each) => each.generation === generation);
  if (found !== undefined) return found;
  throw refused(`Generation ${generation} has no summary`, known(written));
}

function refused(what: string, next: string): HoldfastClientError {
  return new HoldfastClientError('invalid_argument', what, { next });
}

function known(written: readonly StoredSummary[]): string {
  return `Generations with a summary: ${written.map(({ generation }) => generation).join(', ') || 'none'}.`;
}
