import type { Database } from '../store/database/database.ts';
import { inScope } from './invariant.ts';
import type { Breach, CheckedInvariant, VerifyScope } from './invariant.ts';
import type { Journal } from './journal.ts';

/** A call of which nobody knows whether it acted, or how often. */
export interface UnknownOutcome {
  readonly conversationId: string;
  /** `turn:call:index`. */
  readonly key: string;
  readonly tool: string;
  /** How often the journal says that it acted; `null` for a tool that does not write to it. */
  readonly effects: number | null;
}

export interface JournalVerification {
  readonly invariants: readonly CheckedInvariant[];
  /** Calls that acted. */
  readonly effects: number;
  /** Keys of turns that this database does not have: of another one, or of conversations that were deleted. */
  readonly foreign: readonly string[];
  readonly unknownOutcomes: readonly UnknownOutcome[];
  /** Whether the last line of the journal was cut off. */
  readonly torn: boolean;
}

interface LedgerCall {
  readonly conversationId: string;
  readonly key: string;
  readonly tool: string;
  readonly outcome: string | null;
}

interface Effects {
  readonly times: number;
  readonly once: boolean;
}

/**
 * Compares the ledger of tool calls with what the tools themselves wrote down.
 *
 * @param read reads the journal. Called after the ledger was read and before it is read again, so that calls that run
 *   meanwhile are no breach: a call is in the ledger before it acts, and has acted before it has succeeded.
 * @param tools those that write to the journal. Default: those that it names.
 */
export async function verifyJournal(
  sql: Database,
  read: () => Promise<Journal>,
  scope: VerifyScope,
  tools?: readonly string[],
): Promise<JournalVerification> {
  const before = await readCalls(sql, scope);
  const { lines, torn } = await read();
  const after = await readCalls(sql, scope);
  const effects = countEffects(lines);
  const writers = new Set(tools ?? lines.map(({ tool }) => tool));
  const calls = new Map(after.map((call) => [call.key, call]));
  const known = await knownTurns(sql, scope);
  const ofTurns = [...effects].filter(([key]) => known.has(turnOf(key)));
  const conversationOf = (key: string): string => known.get(turnOf(key)) ?? '';
  const breach = (key: string, found: string): Breach => ({
    conversationId: conversationOf(key),
    subject: `call ${key}`,
    found,
  });
  const misplaced = ofTurns.flatMap(([key]) => {
    const call = calls.get(key);
    if (call === undefined) return [breach(key, 'has an effect and is not in the ledger')];
    return call.outcome === 'not_run' ? [breach(key, 'has an effect and is said not to have run')] : [];
  });
  const doubled = ofTurns.flatMap(([key, { times, once }]) =>
    once && times > 1 ? [breach(key, `acted ${times} times`)] : [],
  );
  const without = before.flatMap(({ key, tool, outcome }) =>
    outcome === 'succeeded' && writers.has(tool) && !effects.has(key) ? [breach(key, `${tool} succeeded without`)] : [],
  );
  return {
    invariants: [
      invariant('effect_has_call', 'every effect is that of a call that ran', misplaced, scope),
      invariant('once_acts_once', 'no call of a tool that declares `once` acted twice', doubled, scope),
      invariant('success_has_effect', 'a call that succeeded has its effect', without, scope),
    ],
    effects: ofTurns.length,
    foreign: scope.conversationId === null ? [...effects.keys()].filter((key) => !known.has(turnOf(key))) : [],
    unknownOutcomes: after
      .filter(({ outcome }) => outcome === 'outcome_unknown')
      .map(({ conversationId, key, tool }) => ({
        conversationId,
        key,
        tool,
        effects: writers.has(tool) ? (effects.get(key)?.times ?? 0) : null,
      })),
    torn,
  };
}

function invariant(name: string, holds: string, breaches: readonly Breach[], { limit }: VerifyScope): CheckedInvariant {
  return { name, holds, breaches: breaches.slice(0, limit) };
}

function countEffects(lines: Journal['lines']): ReadonlyMap<string, Effects> {
  const effects = new Map<string, Effects>();
  for (const { key, effect } of lines) {
    const { times, once } = effects.get(key) ?? { times: 0, once: false };
    effects.set(key, { times: times + 1, once: once || effect === 'once' });
  }
  return effects;
}

function turnOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

function readCalls(sql: Database, scope: VerifyScope): Promise<readonly LedgerCall[]> {
  return sql<LedgerCall[]>`
    select conversation_id, turn_id || ':' || call_number || ':' || call_index as key, name as tool, outcome
    from tool_calls where ${inScope(sql, sql`conversation_id`, scope)}
    order by turn_id, call_number, call_index`;
}

async function knownTurns(sql: Database, scope: VerifyScope): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; conversationId: string }[]>`
    select id, conversation_id from turns where ${inScope(sql, sql`conversation_id`, scope)}`;
  return new Map(rows.map(({ id, conversationId }) => [id, conversationId]));
}
