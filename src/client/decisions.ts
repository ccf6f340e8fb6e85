import type { Database } from '../store/database.ts';
import { decide, endStandingDecision, listStandingDecisions } from '../store/decisions.ts';
import type { DecisionToMake } from '../store/decisions.ts';
import { newId } from '../store/ids.ts';
import { notifyWatchers } from '../store/event-writer.ts';
import type { Doorbell } from './doorbell.ts';
import { HoldfastClientError } from './errors.ts';
import type { DecisionMethods, DecisionOptions, SentDecision } from './decision-types.ts';

/** The methods that decide on waiting calls. The row is the decision; the ring only makes the turn look sooner. */
export function deciders(
  database: Database,
  doorbell: Doorbell,
  guarded: <Result>(work: () => Promise<Result>) => Promise<Result>,
): DecisionMethods {
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
      const call = options.call === undefined ? {} : { call: parseCall(options.call) };
      const made = await decide(database, { ...decision, ...call, conversationId, decisionId });
      doorbell.ring(conversationId);
      await notifyWatchers(database, conversationId, 0);
      const { turnId, callNumber, callIndex, duplicate, decided } = made;
      return { conversationId, turnId, call: `${callNumber}.${callIndex}`, duplicate, decided };
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
    listStandingApprovals: () => guarded(async () => listStandingDecisions(database)),
    endStandingApproval: (options) => guarded(() => endStandingDecision(database, options)),
  };
}

function parseCall(text: string): { callNumber: number; callIndex: number } {
  const parsed = /^(\d{1,9})\.(\d{1,9})$/u.exec(text.trim());
  if (parsed === null) {
    throw new HoldfastClientError(
      'invalid_argument',
      `"${text.slice(0, 40)}" is no call: write it as 2.0, as 'holdfast show' does`,
    );
  }
  return { callNumber: Number(parsed[1]), callIndex: Number(parsed[2]) };
}
