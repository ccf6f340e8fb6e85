import { createHash } from 'node:crypto';
import { textOf } from '../../context/log/content.ts';
import { NO_CALIBRATION } from '../../context/log/estimate.ts';
import {
  NO_MEMORIES_NOTE,
  memoriesNote,
  memoriesShownIn,
  shownTaskFile,
  sentencesOf,
  sentencesSaid,
} from '../../context/memory/choose-memories.ts';
import type { Budget } from '../../context/plan/plan.ts';
import { budgetFor, resolveAmount } from '../../context/policy/budget.ts';
import type { TokenAmount } from '../../context/policy/policy.ts';
import { givingWay } from '../../models/protocols/give-way.ts';
import { idempotencyKeyOf } from '../../store/attempts/tool-call-rows.ts';
import { writeAsToolCall } from '../../store/attempts/tool-calls.ts';
import type { ToolCallReference } from '../../store/attempts/tool-calls.ts';
import type { Queries } from '../../store/database/database.ts';
import { newText } from '../../store/log/entries.ts';
import type { NewContent } from '../../store/log/entries.ts';
import { findShownEntries, readNewestRequests, readShownNotes, readTaskFile } from '../../store/log/notes.ts';
import { chooseMemories, stateMemory } from '../../store/memory/choose-memories.ts';
import { findMemoriesInForce, findSupersededInstead, forgetMemory } from '../../store/memory/memories.ts';
import type { MemoryScope, MemoryToInsert, StoredMemory } from '../../store/memory/memories.ts';
import { isOfAnotherUser, readMemoryUser } from '../../store/memory/memory-users.ts';
import type { MemoryUser } from '../../store/memory/memory-users.ts';
import { readSaidWords } from '../../store/memory/said-words.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import type { MemoryToKeep, ToolMemories } from '../../tools/tool.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/** Memories of all scopes that are ranked for a note: those that share words with the goal, however old … */
const CONSIDERED = { isSummary: false, matching: 300, newest: 200, preferences: 100 };
/** … and flushed summaries. They are long and many, and must not crowd out what was remembered on purpose. */
const CONSIDERED_SUMMARIES = { isSummary: true, matching: 30, newest: 20, preferences: 0 };
/** Largest part of the window for a note, whatever was configured. */
const LARGEST_SHARE = 0.05;
/** After a compaction the goal is the user's newest messages and so much of the summary. Characters. */
const REQUESTS = 3;
const GOAL_CHARACTERS = 4_000;
const MILLISECONDS_PER_DAY = 86_400_000;

/** Scopes whose memories a turn of the agent is shown and may change. */
export function scopesOf({ tenant, agent, workspace, memory }: AgentSnapshot): readonly MemoryScope[] {
  const own = tenant === undefined ? {} : { tenant };
  return [
    { ...own, scope: 'agent', scopeName: agent },
    { ...own, scope: 'workspace', scopeName: workspace },
    ...(memory === undefined ? [] : [{ ...own, scope: 'user' as const, scopeName: memory.user }]),
  ];
}

/** What a note of memories is written for. */
interface NoteRequest {
  readonly conversationId: string;
  readonly snapshot: AgentSnapshot;
  readonly goal: string;
  /** Stands below the memories. Default: none. */
  readonly taskFile?: string | null;
}

/**
 * The new note about memories that fit the goal, and about the task; `null` if there is nothing new. It adds to the notes in view,
 * and withdraws memories that were forgotten, superseded or expired.
 */
export async function relevantMemories(sql: Queries, request: NoteRequest): Promise<NewContent | null> {
  const { conversationId, snapshot, taskFile = null } = request;
  if (snapshot.memory === undefined && taskFile === null) return null;
  const shown = (await readShownNotes(sql, conversationId, 'memories')).map(textOf);
  const memories = await memoriesToTell(sql, request, shown);
  const text = [memories, taskFile].filter((part) => part !== null).join('\n\n');
  // Named blocks show only the newest note, in the system prompt, so it holds everything.
  if (!snapshot.policy.namedBlocks) return text === '' ? null : newText(text);
  const newest = shown.at(-1) ?? '';
  const wanted = text === '' && newest !== '' ? NO_MEMORIES_NOTE : text;
  return wanted === newest ? null : newText(wanted);
}

async function memoriesToTell(
  sql: Queries,
  { conversationId, snapshot, goal }: NoteRequest,
  shown: readonly string[],
): Promise<string | null> {
  if (snapshot.memory === undefined) return null;
  const scopes = scopesOf(snapshot);
  const user = await readMemoryUser(sql, conversationId, snapshot.memory.user);
  const stated = await chooseMemories(sql, { ...CONSIDERED, scopes, goal });
  const summaries = await chooseMemories(sql, { ...CONSIDERED_SUMMARIES, scopes, goal });
  const { inputBudget } = budgetFor(snapshot.policy, snapshot.modelLimits);
  const choice = {
    memories: [...(await withoutShown(sql, conversationId, stated)), ...ofOthers(conversationId, summaries)].map(
      (memory) => (isOfAnotherUser(memory, user) ? Object.assign({}, memory, { otherUser: memory.user }) : memory),
    ),
    goal,
    maximumTokens: Math.min(snapshot.memory.tokens, Math.floor(inputBudget * LARGEST_SHARE)),
    calibration: NO_CALIBRATION,
  };
  if (snapshot.policy.namedBlocks) return memoriesNote(choice);
  const noted = memoriesShownIn(shown);
  const inForce = await findMemoriesInForce(sql, scopes, noted);
  return memoriesNote({ ...choice, shown, gone: noted.filter((id) => !inForce.has(id)) });
}

/** Without memories whose source this conversation still shows. If the source has left the window, the memory is all that says it. */
async function withoutShown(
  sql: Queries,
  conversationId: string,
  memories: readonly StoredMemory[],
): Promise<readonly StoredMemory[]> {
  const own = memories.filter((memory) => memory.conversationId === conversationId);
  if (own.length === 0) return memories;
  const sources = own.flatMap(({ sourceId }) => (sourceId === null ? [] : [sourceId]));
  const shown = new Set(await findShownEntries(sql, conversationId, sources));
  return memories.filter((memory) => memory.conversationId !== conversationId || !shown.has(memory.sourceId ?? ''));
}

/** A conversation's own summaries are in its view; the newest carries on the others. */
function ofOthers(conversationId: string, summaries: readonly StoredMemory[]): readonly StoredMemory[] {
  return summaries.filter((memory) => memory.conversationId !== conversationId);
}

/** R13: after a compaction the memories are looked up again, by the user's newest messages and the summary. `null` if nothing is new. */
export async function memoriesAfter(
  sql: Queries,
  {
    turn,
    snapshot,
    summary,
  }: { readonly turn: TurnReference; readonly snapshot: AgentSnapshot; readonly summary: string },
): Promise<NewContent | null> {
  const { conversationId } = turn;
  const budget = budgetFor(snapshot.policy, snapshot.modelLimits);
  const taskFile = await readShownTaskFile(sql, turn, snapshot.policy.taskFile, budget);
  if (snapshot.memory === undefined && taskFile === null) return null;
  const requests = await readNewestRequests(sql, conversationId, REQUESTS);
  const goal = [...requests.map(({ content }) => textOf(content)), summary.slice(0, GOAL_CHARACTERS)].join('\n');
  return relevantMemories(sql, { conversationId, snapshot, goal, taskFile });
}

async function readShownTaskFile(
  sql: Queries,
  turn: TurnReference,
  amount: TokenAmount | null,
  budget: Budget,
): Promise<string | null> {
  const file = amount === null ? null : await readTaskFile(sql, turn);
  return amount === null || file === null ? null : shownTaskFile(file, resolveAmount(amount, budget));
}

/** The claimed call of a memory tool. */
interface MemoryCall {
  readonly call: ToolCallReference & { readonly attempt: number };
  readonly snapshot: AgentSnapshot;
}

/**
 * What the memory tools of a turn reach; `null` if the agent has no memory. All conversations of the agent read what is written here, so
 * the write needs the claim of the call: a replaced worker changes nothing.
 */
export function toolMemories(dependencies: ActivityDependencies, memoryCall: MemoryCall): ToolMemories | null {
  const { call, snapshot } = memoryCall;
  if (snapshot.memory === undefined) return null;
  const { database } = dependencies;
  const { conversationId } = call.turn;
  const { user: name } = snapshot.memory;
  return {
    async remember(memory) {
      const user = await readMemoryUser(database, conversationId, name);
      return remember(dependencies, { ...memoryCall, user }, memory);
    },
    async forget(id) {
      const user = await readMemoryUser(database, conversationId, name);
      const scopes = scopesOf(snapshot);
      return writeAsToolCall(database, call, (open) => forgetMemory(open, scopes, id, user));
    },
  };
}

async function remember(
  { database, secrets }: ActivityDependencies,
  { call, snapshot, user }: MemoryCall & { readonly user: MemoryUser },
  { text: written, kind, scope: wanted, supersedes, confidence, expiresInDays }: MemoryToKeep,
): ReturnType<ToolMemories['remember']> {
  const { conversationId } = call.turn;
  const scopes = scopesOf(snapshot);
  const scope = wanted ?? (user.named === null ? 'workspace' : 'user');
  const { text } = await redactSecrets(maskText(written, secrets));
  const own = scopes.find((each) => each.scope === scope);
  if (own === undefined) throw new Error(`There is no ${scope} whose memory this could be.`);
  const expiry = expiresInDays === null ? null : new Date(Date.now() + expiresInDays * MILLISECONDS_PER_DAY);
  const { origin, entryId } = await findOrigin(database, { text, conversationId });
  const memory = {
    ...own,
    id: idOf(idempotencyKeyOf(call)),
    kind,
    text,
    origin,
    conversationId,
    confidence,
    supersedes,
    statedFor: user,
    ...(expiry !== null && { expiresAt: expiry.toISOString() }),
  };
  return writeAsToolCall(database, call, async (open, { entryId: answerId }) => {
    // Never the result of this call, which says nothing about the memory and is not stored if another attempt closes the call.
    const { id, isNew } = await stateMemory(open, { ...memory, sourceId: entryId ?? answerId });
    return { id, isNew, supersededInstead: await findSupersededInstead(open, { ...own, id, supersedes }) };
  });
}

/** The same for every attempt of a call, in the form of a UUID (RFC 9562 §5.8). */
function idOf(idempotencyKey: string): string {
  const bytes = createHash('sha256').update(`memory\n${idempotencyKey}`).digest().subarray(0, 16);
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x80;
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Whose words a memory is based on. */
interface MemorySource {
  readonly origin: MemoryToInsert['origin'];
  /** The user's newest message that says some of it; `null` if the user did not say all of it. */
  readonly entryId: string | null;
}

/** Whether the user said all of a memory in this conversation, however long ago. */
async function findOrigin(
  sql: Queries,
  { text, conversationId }: { readonly text: string; readonly conversationId: string },
): Promise<MemorySource> {
  const unsaid = new Set(sentencesOf(text));
  let newest: string | null = null;
  if (unsaid.size === 0) return { origin: 'model', entryId: null };
  const afterMessage = givingWay();
  for await (const messages of readSaidWords(sql, conversationId)) {
    for (const message of messages) {
      const said = sentencesSaid(unsaid, message.text);
      if (said.length > 0) newest ??= message.entryId;
      for (const sentence of said) unsaid.delete(sentence);
      if (unsaid.size === 0) return { origin: 'user', entryId: newest };
      await afterMessage();
    }
  }
  return { origin: 'model', entryId: null };
}
