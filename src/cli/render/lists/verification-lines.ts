import type { JournalVerification } from '../../../verify/journal-invariants.ts';
import type { HistoriesRead } from '../../../verify/temporal-invariants.ts';
import type { RepeatedCall, Verification } from '../../../verify/verify.ts';
import { plural } from '../text/numbers.ts';
import type { Style } from '../text/style.ts';
import { wrapWords } from '../text/text-width.ts';

/** Items of a list that are named. */
const NAMED = 10;

export interface WholeVerification extends Verification {
  /** `null`: Temporal was not asked, or not reached. */
  readonly histories: HistoriesRead | null;
  /** `null`: none was given. */
  readonly journal: Omit<JournalVerification, 'invariants'> | null;
}

/** One line per invariant, its breaches below it, and what was looked at. */
export function verificationLines(
  verification: WholeVerification,
  { columns, style }: { readonly columns: number | null; readonly style: Style },
): string[] {
  const { invariants, repeatedCalls, histories, journal } = verification;
  const broken = invariants.filter(({ breaches }) => breaches.length > 0);
  const looked = [
    plural(verification.conversations, 'conversation'),
    plural(verification.turns, 'turn'),
    plural(verification.entries, 'entry', 'entries'),
  ].join(', ');
  const remarks = [
    ...repeatedLines(repeatedCalls),
    ...historyLines(histories),
    ...(journal === null ? [] : journalLines(journal)),
  ];
  const wrapped = (text: string, indent: string): string[] => wrapWords(text, columns, indent);
  const [end, color] =
    broken.length === 0
      ? [`all ${invariants.length} invariants hold.`, style.green]
      : [`${plural(broken.length, 'invariant does', 'invariants do')} not hold.`, style.red];
  return [
    ...invariants.flatMap((invariant) => invariantLines(invariant, wrapped, style)),
    '',
    ...remarks.flatMap((remark) => wrapped(remark, '      ')),
    ...wrapped(`${looked}: ${end}`, '').map(color),
  ];
}

function invariantLines(
  { name, holds, breaches }: Verification['invariants'][number],
  wrapped: (text: string, indent: string) => string[],
  style: Style,
): string[] {
  const mark = breaches.length === 0 ? style.green('✓') : style.red('✗');
  const broken = breaches.flatMap(({ conversationId, subject, found }) =>
    wrapped(`    ${conversationId}  ${subject}: ${found}`, '      '),
  );
  return [...wrapped(`${mark} ${name}: ${holds}`, '  '), ...broken.map(style.red)];
}

function repeatedLines(calls: readonly RepeatedCall[]): string[] {
  if (calls.length === 0) return [];
  return [
    `${plural(calls.length, 'model call')} tried again after the loss of a worker, and perhaps paid twice (\`holdfast view <conversation> --calls\`):`,
    ...named(
      calls.map(
        (call) =>
          `${call.conversationId}  turn ${call.turn}: ${callWords(call)}, ${plural(call.tries, 'try', 'tries')}`,
      ),
    ),
  ];
}

/** A call as `holdfast view` takes it. A summary is none of the step's. */
function callWords({ turn, callNumber, summary }: RepeatedCall): string {
  if (summary === null) return `call ${turn}.${callNumber}`;
  return `part ${summary.part} of compaction ${summary.compactionId}`;
}

function historyLines(histories: HistoriesRead | null): string[] {
  if (histories === null) return ['Temporal was not read.'];
  const { turns, turnsRead, gone } = histories;
  const older = turns > turnsRead ? `; ${plural(turns - turnsRead, 'older turn')} not read (\`--turns all\`)` : '';
  return [
    `${plural(histories.histories, 'history', 'histories')} of ${plural(turnsRead, 'turn')} read from Temporal${older}.`,
    ...(gone.length === 0
      ? []
      : [`Temporal no longer has ${plural(gone.length, 'run')}; nothing is known of their payloads:`]),
    ...named(gone.map(({ conversationId, turnId, runId }) => `${conversationId}  turn ${turnId}: run ${runId}`)),
  ];
}

function journalLines({ effects, foreign, unknownOutcomes, torn }: Omit<JournalVerification, 'invariants'>): string[] {
  return [
    `${plural(effects, 'call')} with an effect in the journal${torn ? ', whose last line is cut off' : ''}.`,
    ...(foreign.length === 0 ? [] : [`${plural(foreign.length, 'effect')} of turns that this database does not have.`]),
    ...(unknownOutcomes.length === 0 ? [] : [`${plural(unknownOutcomes.length, 'call')} with an unknown outcome:`]),
    ...named(
      unknownOutcomes.map(
        ({ conversationId, key, tool, effects: times }) =>
          `${conversationId}  ${tool} ${key}: ${times === null ? 'not a tool of the journal' : `acted ${plural(times, 'time')}`}`,
      ),
    ),
  ];
}

function named(items: readonly string[]): string[] {
  const shown = items.slice(0, NAMED).map((item) => `    ${item}`);
  return items.length > NAMED ? [...shown, `    and ${items.length - NAMED} more`] : shown;
}
