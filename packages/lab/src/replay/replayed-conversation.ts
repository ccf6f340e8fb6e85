import { beginTurn } from 'holdfast/internal/activities/turn/begin-and-end-turn.js';
import type { ActivityDependencies } from 'holdfast/internal/activities/runtime/dependencies.js';
import { readFit } from 'holdfast/internal/activities/compaction/plan-compaction.js';
import type { EntryOutline } from 'holdfast/internal/context/log/entry.js';
import type { Operation, SummaryInForce } from 'holdfast/internal/context/plan/plan.js';
import type { ProjectionInput } from 'holdfast/internal/context/view/view.js';
import type { ReportedUsage } from 'holdfast/internal/models/model-client.js';
import { registerModelCall, storeAnswer } from 'holdfast/internal/store/attempts/model-calls.js';
import { storeToolResult } from 'holdfast/internal/store/attempts/tool-calls.js';
import { readPlanSource } from 'holdfast/internal/store/compactions/fit-check.js';
import { startConversation } from 'holdfast/internal/store/conversations/conversations.js';
import type { Database } from 'holdfast/internal/store/database/database.js';
import { newId } from 'holdfast/internal/store/database/ids.js';
import { newContent, newText } from 'holdfast/internal/store/log/entries.js';
import type { NewContent } from 'holdfast/internal/store/log/entries.js';
import { readProjectionSource } from 'holdfast/internal/store/log/view.js';
import { acceptMessage } from 'holdfast/internal/store/messages/messages.js';
import { takeMessages } from 'holdfast/internal/store/messages/take-messages.js';
import { endTurn } from 'holdfast/internal/store/turns/end-turn.js';
import { DEFAULT_TURN_TASK_QUEUE } from 'holdfast/internal/turn/temporal-names.js';
import type { AgentSnapshot } from 'holdfast/internal/turn/agent-snapshot.js';
import type { TurnReference } from 'holdfast/internal/turn/turn-reference.js';
import type { LabSession } from '../session/lab-session.ts';
import { dependenciesFor, LAB, newExecution } from './activities.ts';
import type { LabAgent } from './lab-agent.ts';

/** The view as it is now, measured. */
export interface ViewNow {
  readonly entries: readonly EntryOutline[];
  readonly summary: SummaryInForce | null;
  readonly operations: readonly Operation[];
}

/** Whether a compaction is in force. */
export function hasPass({ summary, operations }: ViewNow): boolean {
  return summary !== null || operations.length > 0;
}

const SETTINGS = { model: null, preset: null, workspace: null, user: null };

/**
 * A recorded session as a conversation in Postgres, written by what writes a turn: messages begin turns, recorded answers and results
 * take the place of model calls and tools.
 */
export class ReplayedConversation {
  readonly session: LabSession;
  readonly conversationId = newId();
  readonly database: Database;
  readonly dependencies: ActivityDependencies;
  /** How many entries of the session were said; they come in its order. */
  appended = 0;
  /** Numbers the calls of the open turn. */
  callNumber = 0;
  private agent: LabAgent;
  private open: TurnReference | null = null;
  private begun = false;
  /** The recording began with an answer, so an own message stands before it. */
  private ownMessages = 0;
  private waiting = 0;
  private readonly positions = new Map<string, number>();
  private readonly users: number[] = [];

  constructor(database: Database, session: LabSession, agent: LabAgent) {
    this.database = database;
    this.session = session;
    this.agent = agent;
    this.dependencies = dependenciesFor(database, agent, () => snapshotOf(this.agent));
  }

  get isOpen(): boolean {
    return this.open !== null;
  }

  /** @throws RangeError between two turns */
  get turn(): TurnReference {
    if (this.open === null) throw new RangeError('no turn is open');
    return this.open;
  }

  /** A message of the user, which the open turn takes before its next call, and otherwise begins the next one. */
  async say(position: number): Promise<void> {
    await this.send(newContent(this.session.content(position)));
    this.users.push(position);
    this.appended = position + 1;
  }

  private async send(message: NewContent): Promise<void> {
    const { conversationId } = this;
    this.waiting += 1;
    if (this.begun) {
      await acceptMessage(this.database, { ...message, id: newId(), conversationId, kind: 'message', mode: 'steer' });
      return;
    }
    this.begun = true;
    await startConversation(this.database, {
      ...message,
      conversationId,
      mode: 'steer',
      agent: LAB,
      settings: SETTINGS,
      // Nothing that one replay learns or remembers is known to another.
      tenant: conversationId,
      taskQueue: DEFAULT_TURN_TASK_QUEUE,
    });
  }

  /** Begins a turn with what waits, unless one is open. @param agent with what it was told at this point */
  async begin(agent: LabAgent): Promise<void> {
    if (this.open !== null) return;
    this.agent = agent;
    if (this.waiting === 0) {
      this.ownMessages += 1;
      await this.send(newText('[The recording begins with an answer.]'));
    }
    const begun = await beginTurn(this.dependencies, { conversationId: this.conversationId }, newExecution());
    if (begun.kind !== 'begun') throw new TypeError('a message waits, so a turn begins');
    this.open = begun.turn;
    this.callNumber = 0;
    this.waiting = 0;
  }

  async end(): Promise<void> {
    if (this.open === null) return;
    const request = { turn: this.open, outcome: 'completed', reason: null, breakdown: null } as const;
    await endTurn(this.database, request, () => newText(''));
    this.open = null;
  }

  /** What was said last and not answered becomes part of the open turn. */
  async takeWaiting(): Promise<void> {
    if (this.open !== null && this.waiting > 0) await takeMessages(this.database, this.open);
  }

  /** The recorded answer at this position. @param usage as the provider would report it */
  async answer(position: number, usage: ReportedUsage): Promise<void> {
    const { database, turn, callNumber, session } = this;
    const { headEntryId, compactionId } = await readFit(database, turn);
    const registered = await registerModelCall(database, {
      turn,
      callNumber,
      by: newExecution(),
      model: snapshotOf(this.agent).model,
      headEntryId,
      compactionId,
      viewFingerprint: LAB,
      rendererVersion: 0,
      estimatedTokens: usage.input,
    });
    if (registered.kind !== 'registered') throw new TypeError(`the call cannot be registered: ${registered.kind}`);
    const { entryId } = await storeAnswer(database, {
      turn,
      callNumber,
      attempt: registered.attempt,
      headEntryId,
      ...newContent(session.content(position)),
      usage,
      cost: 0,
      durationMilliseconds: 0,
      stopReason: session.entries[position]?.toolCallCount === 0 ? 'end' : 'tool_calls',
      responseId: null,
    });
    this.positions.set(entryId, position);
    this.appended = position + 1;
  }

  /** The recorded result at this position, of a call of the newest answer. */
  async result(position: number): Promise<void> {
    const { database, turn, callNumber, session } = this;
    const { callIndex = 0, isError } = session.entries[position] ?? {};
    const entryId = newId();
    await storeToolResult(database, {
      turn,
      callNumber,
      callIndex,
      entryId,
      ...newContent(session.content(position)),
      attempt: 1,
      isWithoutRun: true,
      outcome: isError === true ? 'failed' : 'succeeded',
      workerIdentity: LAB,
      fingerprint: LAB,
    });
    this.positions.set(entryId, position);
    this.appended = position + 1;
  }

  async view(): Promise<ViewNow> {
    const { entries, summary, operations } = await readPlanSource(this.database, this.turn);
    return { entries: [...entries], summary, operations };
  }

  async projectionInput(): Promise<ProjectionInput> {
    const { headEntryId } = await readFit(this.database, this.turn);
    const { runtime: _changesWithEachCall, ...input } = (
      await readProjectionSource(this.database, { turn: this.turn, headEntryId })
    ).input;
    return input;
  }

  /** Positions in the session by the id of their entry; those of messages are known by their order. */
  async positionsById(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database<{ id: string }[]>`
      select id from entries where conversation_id = ${this.conversationId} and kind = 'user' order by sequence`;
    rows.slice(this.ownMessages).forEach(({ id }, index) => {
      const position = this.users[index];
      if (position !== undefined) this.positions.set(id, position);
    });
    return this.positions;
  }

  /** Whether an answer has reasoning, which the view shows until the next compaction. */
  hasReasoning(entryId: string): boolean {
    const position = this.positions.get(entryId);
    return position !== undefined && this.session.entries[position]?.hasReasoning === true;
  }
}

/** A summarizer that stands for the agent's own model may be asked behind the agent's last request. */
function snapshotOf({ view, policy, limits, prices, summarizer }: LabAgent): AgentSnapshot {
  return {
    ...view,
    agent: LAB,
    model: summarizer.isAgentsOwn ? summarizer.model : `${LAB}/recorded`,
    modelLimits: limits,
    prices,
    summarizer: { model: summarizer.model, limits: summarizer.limits, prices: summarizer.prices },
    policy,
    limits: { steps: Number.MAX_SAFE_INTEGER },
    workspace: '/',
    allowCommands: false,
  };
}
