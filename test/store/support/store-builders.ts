import { endTurn } from '../../../src/store/turns/end-turn.ts';
import type { EndedTurn, EndTurnRequest } from '../../../src/store/turns/end-turn.ts';
import { afterAll, beforeAll } from 'vitest';
import { measureContent } from '../../../src/context/log/measure.ts';
import { NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import { DEFAULT_POLICY } from '../../../src/context/policy/presets/default.ts';
import type { ContentPart } from '../../../src/context/log/content.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import type { NewContent } from '../../../src/store/log/entries.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { takeMessages } from '../../../src/store/messages/take-messages.ts';
import { acceptMessage, insertMessage } from '../../../src/store/messages/messages.ts';
import type { MessageInput } from '../../../src/store/messages/messages.ts';
import { registerModelCall, storeAnswer } from '../../../src/store/attempts/model-calls.ts';
import type { AnswerToStore, StoredAnswer } from '../../../src/store/attempts/model-calls.ts';
import { claimToolCall, storeToolResult } from '../../../src/store/attempts/tool-calls.ts';
import type { OpenToolCall, StoredToolResult, ToolResultToStore } from '../../../src/store/attempts/tool-calls.ts';
import { beginTurn } from '../../../src/store/turns/turns.ts';
import type { BegunTurn } from '../../../src/store/turns/turns.ts';
import type { AgentSnapshot } from '../../../src/turn/agent-snapshot.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { createTestDatabase } from '../../support/database.ts';
import { makeConversation } from './make-conversation.ts';
import { lazily } from '../../support/lazily.ts';

export interface TestStore {
  /** As the role of the application. */
  readonly sql: Database;
  readonly url: string;
  /** As a superuser, for what no application may do. */
  readonly owner: Database;
  close(): Promise<void>;
}

/** A migrated database of its own, and a pool of the kind that Holdfast uses. */
export async function openTestStore(maximumConnections = 10, created = createTestDatabase()): Promise<TestStore> {
  const database = await created;
  const sql = connectDatabase({ url: database.url, applicationName: 'store-test', maximumConnections });
  const owner = connectDatabase({ url: database.ownerUrl, applicationName: 'store-test-owner', maximumConnections: 2 });
  return {
    sql,
    url: database.url,
    owner,
    close: async () => {
      await Promise.all([sql.end(), owner.end()]);
      await database.drop();
    },
  };
}

/** For all tests of a file: opened before the first, closed after the last. @param opened takes what must be known before a test runs */
export function useTestStore(opened: (store: TestStore) => void = () => undefined): Pick<TestStore, 'sql' | 'owner'> {
  let store: TestStore | undefined;
  beforeAll(async () => {
    store = await openTestStore();
    opened(store);
  });
  afterAll(() => store?.close());
  return { sql: lazily(() => store?.sql), owner: lazily(() => store?.owner) };
}

export function text(value: string): NewContent {
  const content: ContentPart[] = [{ type: 'text', text: value }];
  return { content, measurements: measureContent(content) };
}

const PRICES = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
const MODEL = { model: 'sim/sim-32k', prices: PRICES };
const LIMITS = { window: 32_768, maximumOutput: 4_096 };

export const SNAPSHOT: AgentSnapshot = {
  ...MODEL,
  agent: 'reader',
  modelLimits: LIMITS,
  summarizer: { ...MODEL, limits: LIMITS },
  policy: DEFAULT_POLICY,
  limits: { steps: 10 },
  workspace: '/tmp',
  allowCommands: false,
  instructions: 'Read.',
  rules: [],
  tools: [],
};

export function closeToolCall(call: OpenToolCall): NewContent {
  return text(`closed: ${call.state} ${call.cause}`);
}

export async function send(
  sql: Database,
  message: Partial<MessageInput> & { conversationId: string },
): Promise<string> {
  const id = message.id ?? newId();
  await makeConversation(sql, message.conversationId);
  await acceptMessage(sql, { kind: 'message', ...text('hello'), ...message, id });
  return id;
}

export interface BeginOptions {
  readonly runId?: string;
  readonly turnId?: string;
  readonly rules?: NewContent | null;
  /** Instead of `SNAPSHOT`'s. */
  readonly snapshot?: Partial<AgentSnapshot>;
  /** What Temporal would say. Default: it is not asked. */
  readonly isNewestRun?: () => Promise<boolean>;
}

export async function begin(sql: Database, conversationId: string, options: BeginOptions = {}): Promise<BegunTurn> {
  return beginTurn(
    sql,
    {
      conversationId,
      turnId: options.turnId ?? newId(),
      workflowId: `agent-turn:${conversationId}`,
      runId: options.runId ?? newId(),
      workerIdentity: 'worker-1',
    },
    {
      closeToolCall,
      ...(options.isNewestRun !== undefined && { isNewestRun: options.isNewestRun }),
      resumeNote: text('Go on.'),
      snapshotFor: () =>
        Promise.resolve({
          snapshot: { ...SNAPSHOT, ...options.snapshot },
          fixed: { ...NO_MEASUREMENTS, letters: 100 },
          rules: options.rules ?? null,
        }),
    },
  );
}

/** A new conversation with a turn that took one message. */
export async function startTurn(sql: Database, said = 'hello', options: BeginOptions = {}): Promise<TurnReference> {
  const conversationId = newId();
  await send(sql, { conversationId, ...text(said) });
  return continueConversation(sql, conversationId, options);
}

/** A turn with these messages of the user, each an entry of its own. Default: "hello". */
export async function conversationOf(sql: Database, ...said: string[]): Promise<TurnReference> {
  const [first = 'hello', ...rest] = said;
  const turn = await startTurn(sql, first);
  const { conversationId } = turn;
  // In one transaction: search tests say thousands.
  await sql.begin((open) =>
    Promise.all(
      rest.map((each) => insertMessage(open, { id: newId(), conversationId, kind: 'message', ...text(each) })),
    ),
  );
  await takeMessages(sql, turn);
  return turn;
}

/** The next turn of a conversation in which something waits. */
export async function continueConversation(
  sql: Database,
  conversationId: string,
  options: BeginOptions = {},
): Promise<TurnReference> {
  const begun = await begin(sql, conversationId, options);
  if (begun.kind !== 'begun') throw new Error('nothing waited');
  return begun.turn;
}

export async function headOf(sql: Database, conversationId: string): Promise<string> {
  const [row] = await sql<{ head: string }[]>`
    select head_entry_id as head from conversations where id = ${conversationId}`;
  if (row === undefined) throw new Error(`no conversation ${conversationId}`);
  return row.head;
}

export const FIRST_ATTEMPT = { runId: 'run', activityId: '1', attempt: 1 };

/** Registers a try at the current head; returns its attempt and head. */
export async function register(
  sql: Database,
  turn: TurnReference,
  callNumber: number,
  by = FIRST_ATTEMPT,
): Promise<{ attempt: number; headEntryId: string }> {
  const [row] = await sql<{ head: string; compaction: string | null }[]>`
    select head_entry_id as head, compaction_id as compaction from conversations where id = ${turn.conversationId}`;
  const headEntryId = row?.head ?? '';
  const registered = await registerModelCall(sql, {
    turn,
    callNumber,
    by,
    model: SNAPSHOT.model,
    headEntryId,
    compactionId: row?.compaction ?? null,
    viewFingerprint: 'fingerprint',
    rendererVersion: 1,
    estimatedTokens: 100,
  });
  if (registered.kind !== 'registered') throw new Error('answered before');
  return { attempt: registered.attempt, headEntryId };
}

export function toolCall(index: number, name = 'read_file', argumentsText = '{}'): ContentPart {
  return { type: 'tool_call', index, id: `call-${index}`, name, arguments: argumentsText };
}

export function answerWith(
  turn: TurnReference,
  callNumber: number,
  registered: { attempt: number; headEntryId: string },
  content: readonly ContentPart[],
): AnswerToStore {
  return {
    turn,
    callNumber,
    ...registered,
    content,
    measurements: measureContent(content),
    usage: { input: 100, cacheRead: 40, cacheWrite: 10, output: 20 },
    cost: 0.5,
    durationMilliseconds: 12,
    stopReason: 'end',
    responseId: null,
  };
}

/** Registers and stores an answer; with `calls`, one that asks for that many tool calls. */
export async function answer(
  sql: Database,
  turn: TurnReference,
  callNumber: number,
  options: { readonly calls?: number; readonly said?: string; readonly thinking?: string } = {},
): Promise<StoredAnswer> {
  const content: ContentPart[] = [{ type: 'text', text: options.said ?? `answer ${callNumber}` }];
  if (options.thinking !== undefined) {
    content.unshift({ type: 'thinking', text: options.thinking, provider: 'sim', signature: 'signed' });
  }
  for (let index = 0; index < (options.calls ?? 0); index += 1) content.push(toolCall(index));
  return storeAnswer(sql, answerWith(turn, callNumber, await register(sql, turn, callNumber), content));
}

/** Claims and finishes a tool call. */
export async function finishToolCall(
  sql: Database,
  turn: TurnReference,
  callNumber: number,
  callIndex: number,
  result: Partial<ToolResultToStore> = {},
): Promise<StoredToolResult> {
  await claimToolCall(sql, { turn, callNumber, callIndex, ...claimer('worker-1') });
  return storeToolResult(sql, {
    turn,
    callNumber,
    callIndex,
    entryId: newId(),
    attempt: 1,
    outcome: 'succeeded',
    workerIdentity: 'worker-1',
    fingerprint: 'f1',
    ...text(`result ${callNumber}.${callIndex}`),
    ...result,
  });
}

/** Who claims a tool call, by default for the first time. */
export function claimer(workerIdentity: string, attempt = 1) {
  return { workerIdentity, runId: 'run', activityAttempt: attempt, attempt };
}

/** A call that an answer asked for and a worker claimed. */
export async function claimedCall(sql: Database, turn: TurnReference, callNumber: number) {
  await answer(sql, turn, callNumber, { calls: 1 });
  const call = { turn, callNumber, callIndex: 0 };
  await claimToolCall(sql, { ...call, ...claimer('worker-1') });
  return { ...call, attempt: 1 };
}

/** A whole step: an answer with one tool call, and its result. */
export async function step(sql: Database, turn: TurnReference, callNumber: number): Promise<void> {
  await answer(sql, turn, callNumber, { calls: 1 });
  await finishToolCall(sql, turn, callNumber, 0);
}

/** Ends a turn, by default as completed. */
export async function endedAs(
  sql: Database,
  turn: TurnReference,
  request: Partial<EndTurnRequest> = {},
): Promise<EndedTurn> {
  const completed = { turn, outcome: 'completed', reason: null, breakdown: null } as const;
  const ended = await endTurn(sql, { ...completed, ...request }, closeToolCall);
  if (ended === 'messages_waiting') throw new Error('the turn goes on with messages');
  return ended;
}

/** Kind and text of each entry, in order. */
export async function said(sql: Database, conversationId: string): Promise<string[]> {
  const wordOf = (part: ContentPart): string => (part.type === 'text' ? part.text : part.type);
  const entries = await listEntries(sql, { conversationId });
  return entries.map(({ kind, content }) => `${kind} ${content.map(wordOf).join()}`);
}
