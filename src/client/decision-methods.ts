import { userInfo } from 'node:os';
import type { Database } from '../store/database/database.ts';
import {
  decide,
  decideCoveredCalls,
  endStandingDecision,
  hasOverdueDecisions,
  listDecisionsOfTenant,
  listMadeDecisions,
  listStandingDecisions,
} from '../store/messages/decisions.ts';
import type { CallOfConversation, DecisionToMake } from '../store/messages/decisions.ts';
import { notifyWatchers } from '../store/log/event-writer.ts';
import { newId } from '../store/database/ids.ts';
import { readCallName, writeCallName } from '../turn/call-name.ts';
import type { CallName } from '../turn/call-name.ts';
import type { Doorbell } from './sending/doorbell.ts';
import { HoldfastClientError } from './errors.ts';
import type {
  ApprovalOptions,
  DecidedCall,
  DecisionOptions,
  SentDecision,
  StandingApproval,
  WaitingCallOfTenant,
} from './types.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';
import type { ClientContext } from './client-context.ts';
import { storedOnce } from './sending/stored-once.ts';

const MOST_LISTED = 500;
/** Characters of who decided. */
const LONGEST_NAME = 100;

/**
 * Decides on tool calls that wait for a person. A decision is stored once its method returns, also while no worker runs.
 */
export class DecisionMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Lets a waiting tool call run.
   * @throws HoldfastClientError `decision_not_found`, `decision_ambiguous`, `decision_stale` (decided, expired, or its turn ended),
   * `decision_id_reused`, `invalid_argument`
   */
  approve(options: ApprovalOptions): Promise<SentDecision> {
    return this.#judge(options, 'approved');
  }

  /** Refuses a waiting tool call; the model reads the reason. @throws as `decisions.approve` */
  deny(options: ApprovalOptions): Promise<SentDecision> {
    return this.#judge(options, 'denied');
  }

  #judge(options: ApprovalOptions, state: 'approved' | 'denied'): Promise<SentDecision> {
    const { for: scope = 'call', reason = null } = options;
    return this.#send(options, { kind: 'approval', state, scope, text: reason });
  }

  /** Answers a question that the model asked with `ask_user`. @param options.text the answer @throws as `decisions.approve` */
  async answer(options: DecisionOptions & { readonly text: string }): Promise<SentDecision> {
    if (options.text.trim() === '')
      throw new HoldfastClientError('invalid_argument', 'the answer is empty: say something');
    return this.#send(options, { kind: 'question', state: 'answered', scope: 'call', text: options.text });
  }

  /**
   * Calls that wait in all conversations of the client's tenant, the longest wait first.
   * @param options.limit at most 500. Default: 100
   * @param options.after the last call of the page before, as `<conversationId>/<call>`
   */
  async listWaiting(
    options: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<Page<WaitingCallOfTenant>> {
    const { database, tenant } = this.#context;
    const limit = Math.min(options.limit ?? 100, MOST_LISTED);
    const after = options.after === undefined ? {} : { after: parseCursor(options.after) };
    return pageOf(await listDecisionsOfTenant(database, { tenant, limit: limit + 1, ...after }), limit);
  }

  /**
   * Decided calls of all conversations of the client's tenant, newest first.
   * @param options.limit at most 500. Default: 100
   * @param options.before the last call of the page before, as `<conversationId>/<call>`
   */
  async listMade(options: { readonly limit?: number; readonly before?: string } = {}): Promise<Page<DecidedCall>> {
    const { database, tenant } = this.#context;
    const limit = Math.min(options.limit ?? 100, MOST_LISTED);
    const before = options.before === undefined ? {} : { before: parseCursor(options.before) };
    return pageOf(await listMadeDecisions(database, { tenant, limit: limit + 1, ...before }), limit);
  }

  /** Decisions that were made for all turns of an agent. */
  listStanding(): Promise<StandingApproval[]> {
    const { database, tenant } = this.#context;
    return listStandingDecisions(database, tenant);
  }

  /**
   * Ends such a decision: calls under the rule ask again.
   * @param options.agent as `decisions.listStanding` returns it
   * @param options.rule as `decisions.listStanding` returns it
   * @throws HoldfastClientError `decision_not_found`
   */
  endStanding(options: { readonly agent: string; readonly rule: string }): Promise<void> {
    const { database, tenant } = this.#context;
    return endStandingDecision(database, { ...options, tenant });
  }

  async #send(
    { conversationId, call, decisionId = newId(), decidedBy }: DecisionOptions,
    decision: Pick<DecisionToMake, 'kind' | 'state' | 'scope' | 'text'>,
  ): Promise<SentDecision> {
    const { database, doorbell } = this.#context;
    if (decisionId === '' || decisionId.length > 200) {
      throw new HoldfastClientError(
        'invalid_argument',
        `a decision id has 1 to 200 characters, not ${decisionId.length}`,
      );
    }
    const named = {
      ...(call !== undefined && { call: parseCall(call) }),
      ...(decidedBy !== undefined && { decidedBy: decidedBy.slice(0, LONGEST_NAME) }),
    };
    const made = await storedOnce(
      () => decide(database, { ...decision, ...named, conversationId, decisionId }),
      (found) => ({ ...found, duplicate: false, decided: Math.max(1, found.decided) }),
    ).catch(async (error: unknown) => {
      if (await hasOverdueDecisions(database, conversationId)) doorbell.ring(conversationId);
      throw error;
    });
    doorbell.ring(conversationId);
    await notifyWatchers(database, conversationId, 0);
    const elsewhere = decision.scope === 'agent' ? await decideElsewhere(database, doorbell, made) : 0;
    const { turnId, tool, arguments: argumentsText, rules, duplicate, decided } = made;
    const decidedCall = { call: writeCallName(made.call), turnId, tool, arguments: argumentsText, rules };
    return { conversationId, ...decidedCall, duplicate, decided: decided + elsewhere };
  }
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

function parseCursor(text: string): CallOfConversation {
  const [conversationId = '', call = ''] = text.split('/');
  return { conversationId, ...parseCall(call) };
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

/** In whose name decisions are made on this machine: its user, as the shell knows it; in a container whose shell knows none, as the system does. */
export function userOfMachine(): string | undefined {
  return process.env['USER'] ?? process.env['USERNAME'] ?? systemName();
}

/** A process may run as a number that has no name. */
function systemName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
