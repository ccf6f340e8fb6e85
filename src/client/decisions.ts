import type { Database } from '../store/database/database.ts';
import {
  decide,
  decideCoveredCalls,
  endStandingDecision,
  hasOverdueDecisions,
  listStandingDecisions,
} from '../store/messages/decisions.ts';
import type { DecisionToMake } from '../store/messages/decisions.ts';
import { notifyWatchers } from '../store/log/event-writer.ts';
import { newId } from '../store/database/ids.ts';
import { readCallName, writeCallName } from '../turn/call-name.ts';
import type { CallName } from '../turn/call-name.ts';
import type { Doorbell } from './doorbell.ts';
import { guarded, HoldfastClientError } from './errors.ts';
import type { DecisionMethods, DecisionOptions, SentDecision } from './decision-types.ts';

/** The methods that decide on waiting calls. The row is the decision; the ring only makes the turn look sooner, also at what comes too late. */
export function deciders(database: Database, doorbell: Doorbell, tenant: string): DecisionMethods {
  const send = (
    options: DecisionOptions,
    decision: Pick<DecisionToMake, 'kind' | 'state' | 'scope' | 'text'>,
  ): Promise<SentDecision> =>
    guarded(async () => {
      const { conversationId, decisionId = newId() } = options;
      if (decisionId === '' || decisionId.length > 200) {
        throw new HoldfastClientError(
          'invalid_argument',
          `a decision id has 1 to 200 characters, not ${decisionId.length}`,
        );
      }
      const named = options.call === undefined ? {} : { call: parseCall(options.call) };
      const made = await decide(database, { ...decision, ...named, conversationId, decisionId }).catch(
        async (error: unknown) => {
          if (await hasOverdueDecisions(database, conversationId)) doorbell.ring(conversationId);
          throw error;
        },
      );
      doorbell.ring(conversationId);
      await notifyWatchers(database, conversationId, 0);
      const elsewhere = decision.scope === 'agent' ? await decideElsewhere(database, doorbell, made) : 0;
      const { turnId, tool, arguments: argumentsText, rules, duplicate, decided } = made;
      const call = { call: writeCallName(made.call), turnId, tool, arguments: argumentsText, rules };
      return { conversationId, ...call, duplicate, decided: decided + elsewhere };
    });
  return {
    approve: (options) =>
      send(options, {
        kind: 'approval',
        state: 'approved',
        scope: options.for ?? 'call',
        text: options.reason ?? null,
      }),
    deny: (options) =>
      send(options, { kind: 'approval', state: 'denied', scope: options.for ?? 'call', text: options.reason ?? null }),
    async answer(options) {
      if (options.text.trim() === '')
        throw new HoldfastClientError('invalid_argument', 'the answer is empty: say something');
      return send(options, { kind: 'question', state: 'answered', scope: 'call', text: options.text });
    },
    listStandingApprovals: () => guarded(async () => listStandingDecisions(database, tenant)),
    endStandingApproval: (options) => guarded(() => endStandingDecision(database, { ...options, tenant })),
  };
}

/**
 * Calls that wait in other conversations of the agent. The decision holds already, so a failure here is none of it: upkeep
 * finds what is left.
 */
async function decideElsewhere(
  database: Database,
  doorbell: Doorbell,
  { agent, rules }: { readonly agent: string; readonly rules: readonly string[] },
): Promise<number> {
  try {
    const covered = await decideCoveredCalls(database, { agent, rules });
    for (const { conversationId } of covered) doorbell.ring(conversationId);
    return covered.reduce((sum, { decided }) => sum + decided, 0);
  } catch {
    return 0;
  }
}

function parseCall(text: string): CallName {
  const name = readCallName(text);
  if (name !== null) return name;
  const shown = text.slice(0, 40);
  const what = /^\d+\.\d+$/u.test(text.trim()) ? 'names a call in every turn' : 'is no name of a call';
  throw new HoldfastClientError(
    'invalid_argument',
    `"${shown}" ${what}: write the whole name, as 'holdfast show' prints it, such as 3.2.0 (turn, model call, index)`,
  );
}
