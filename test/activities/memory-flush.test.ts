import { expect, test } from 'vitest';
import { commitCompaction } from '../../src/activities/compaction/commit-compaction.ts';
import { askHooks } from '../../src/activities/compaction/ask-hooks.ts';
import { compactContext } from '../../src/activities/compaction/compact-context.ts';
import type { ActivityDependencies } from '../../src/activities/runtime/dependencies.ts';
import { summarize } from '../../src/activities/compaction/summarize.ts';
import type { ContentPart } from '../../src/context/log/content.ts';
import { COWORK_POLICY } from '../../src/context/policy/presets/cowork.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import { listParts } from '../../src/store/compactions/compaction-parts.ts';
import { endCompaction } from '../../src/store/compactions/commit-compaction.ts';
import type { Database } from '../../src/store/database/database.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { newId } from '../../src/store/database/ids.ts';
import { listMemories } from '../support/list-memories.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { prose } from '../context/builders.ts';
import { makeConversation } from '../store/support/make-conversation.ts';
import {
  answer,
  answerWith,
  continueConversation,
  finishToolCall,
  register,
  send,
  SNAPSHOT,
  text,
  toolCall,
} from '../store/support/store-builders.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { SECRETS_IN_PLACE, toldOfSecrets } from './support/secrets.ts';
import { useStoreAndSimulator } from './support/store-and-simulator.ts';

let sql: Database;
let dependencies: ActivityDependencies;

useStoreAndSimulator((opened) => {
  ({ sql } = opened.store);
  dependencies = activityDependencies(sql, { simulatorUrl: opened.simulator.url });
});

const LIMITS = { window: 32_768, maximumOutput: 4_096 };
const WORKSPACE = '/flushed';

/**
 * A view past its window: nothing is left of it.
 * @param commands of which each answer runs some
 * @param user whom the conversation names
 */
async function fullWindow(commands: readonly string[] = [], user: string | null = null): Promise<TurnReference> {
  const snapshot = {
    policy: COWORK_POLICY,
    workspace: WORKSPACE,
    modelLimits: LIMITS,
    summarizer: { ...SNAPSHOT.summarizer, limits: LIMITS },
  };
  const conversationId = newId();
  await makeConversation(sql, conversationId, { user });
  await send(sql, { conversationId, ...text(`Rewrite the storage layer. ${prose(2_000)}`) });
  const turn = await continueConversation(sql, conversationId, { snapshot });
  for (let call = 1; call <= 7; call += 1) {
    const run = commands.filter((_, index) => index % 6 === call - 1);
    const calls = run.map((command, index) => toolCall(index, 'run_command', JSON.stringify({ command })));
    const content: ContentPart[] = [{ type: 'text', text: prose(22_000, call) }, ...calls];
    await storeAnswer(sql, answerWith(turn, call, await register(sql, turn, call), content));
    for (const index of run.keys()) await finishToolCall(sql, turn, call, index);
  }
  // Only what is estimated counts here.
  await sql`update conversations set usage_entry_id = null where id = ${turn.conversationId}`;
  return turn;
}

/** Plans a pass; the kinds of its parts, wave by wave. */
async function planPass(turn: TurnReference, callNumber: number, worker = dependencies) {
  const input = { turn, callNumber, forced: null };
  const checked = await compactContext(worker, input, execution());
  const result = checked.kind === 'hooks_due' ? await askHooks(worker, input, execution()) : checked;
  if (result.kind !== 'planned') throw new Error(`not planned: ${result.kind}`);
  const { compactionId, waves } = result.planned;
  const parts = await listParts(sql, compactionId);
  return { compactionId, waves, kinds: parts.map(({ part }) => `${part.wave} ${part.kind}`) };
}

async function giveUp(turn: TurnReference, compactionId: string): Promise<void> {
  await endCompaction(sql, { turn, compactionId, status: 'abandoned', failure: 'test' });
}

/** Of a conversation whose passes are finished, which nothing but a replica may change. */
async function hoursLater({ conversationId }: TurnReference): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`set local role none`;
    await transaction`set local session_replication_role = replica`;
    await transaction`update compactions set created_at = created_at - interval '2 hours' where conversation_id = ${conversationId}`;
  });
}

async function sayMore(turn: TurnReference, call: number): Promise<void> {
  await answer(sql, turn, call, { said: prose(8_000, call) });
  await sql`update conversations set usage_entry_id = null where id = ${turn.conversationId}`;
}

/** What was flushed before a pass; a summary is a memory under its own id. */
const flushes = async ({ conversationId }: TurnReference) =>
  (await listMemories(sql, { scopes: [{ scope: 'workspace', scopeName: WORKSPACE }], kinds: ['summary'] })).filter(
    (memory) => memory.conversationId === conversationId && memory.sourceId !== memory.id,
  );

const OF_A_PASS = new Set(['compaction_started', 'memory_flushed', 'compaction_part_written', 'compaction_committed']);

/** The events of a pass, in order. */
async function toldOf(turn: TurnReference, compactionId: string) {
  const events = await listEvents(sql, { conversationId: turn.conversationId });
  return events
    .filter(({ kind, data }) => OF_A_PASS.has(kind) && 'compactionId' in data && data.compactionId === compactionId)
    .map(({ kind, data }) => (kind === 'memory_flushed' ? `${kind} ${data.part}` : kind));
}

test('C17, C18 a flush is a memory before anything is removed, not asked for again before time and growth, and comes before the summary', async () => {
  const turn = await fullWindow();
  const { compactionId, kinds } = await planPass(turn, 8);
  expect(kinds.slice(0, 2)).toEqual(['1 flush', '2 history']);
  expect(await flushes(turn)).toEqual([]);
  expect(await summarize(dependencies, { turn, compactionId, part: 1 }, execution())).toMatchObject({
    kind: 'summarized',
  });
  const [flushed, ...more] = await flushes(turn);
  expect(more).toEqual([]);
  expect(flushed).toMatchObject({ sourceId: compactionId, origin: 'model', conversationId: turn.conversationId });
  for (const title of ['Decisions', 'Open Loops', 'Next Actions', 'Key Findings'])
    expect(flushed?.text).toContain(`## ${title}`);
  expect(await toldOf(turn, compactionId)).toEqual([
    'compaction_started',
    'memory_flushed 1',
    'compaction_part_written',
  ]);
  await giveUp(turn, compactionId);

  await sayMore(turn, 8);
  const soon = await planPass(turn, 9);
  expect(soon.kinds[0]).toBe('1 history');
  await giveUp(turn, soon.compactionId);
  await hoursLater(turn);
  const grown = await planPass(turn, 9);
  expect(grown.kinds[0]).toBe('1 flush');
  const parts = grown.waves.flat();
  for (const { number } of parts)
    await summarize(dependencies, { turn, compactionId: grown.compactionId, part: number }, execution());
  expect(await commitCompaction(dependencies, { turn, compactionId: grown.compactionId })).toMatchObject({
    kind: 'committed',
  });
  expect(await toldOf(turn, grown.compactionId)).toEqual([
    'compaction_started',
    'memory_flushed 1',
    ...parts.map(() => 'compaction_part_written'),
    'memory_flushed null',
    'compaction_committed',
  ]);
  expect(await flushes(turn)).toHaveLength(2);
});

/** What a pass leaves behind it that others read: the summary in force, its ledger, and the memories of the workspace. */
async function leftBehind({ conversationId }: TurnReference): Promise<string> {
  const rows = await sql<{ text: string }[]>`
    select summary::text || files::text as text from compactions where conversation_id = ${conversationId} and summary is not null
    union all select text::text from memories where conversation_id = ${conversationId}`;
  expect(rows.length).toBeGreaterThan(1);
  return rows.map(({ text }) => text).join('\n');
}

async function passOver(turn: TurnReference, worker = dependencies): Promise<void> {
  const { compactionId, waves } = await planPass(turn, 8, worker);
  for (const { number } of waves.flat()) await summarize(worker, { turn, compactionId, part: number }, execution());
  expect(await commitCompaction(worker, { turn, compactionId })).toMatchObject({ kind: 'committed' });
}

test('the flush and the summary of a conversation that names a user are memories of his, and of nobody else in the workspace', async () => {
  const user = `user-${newId()}`;
  const turn = await fullWindow([], user);
  await passOver(turn);
  const { conversationId } = turn;
  const own = await listMemories(sql, { scopes: [{ scope: 'user', scopeName: user }] });
  expect(own).toMatchObject([
    { kind: 'summary', conversationId },
    { kind: 'summary', conversationId },
  ]);
  expect(own.filter(({ id, sourceId }) => id === sourceId)).toHaveLength(1);
  const shared = await listMemories(sql, { scopes: [{ scope: 'workspace', scopeName: WORKSPACE }] });
  expect(shared.filter((memory) => memory.conversationId === conversationId)).toEqual([]);
});

test('R28 wherever the list of results cuts what a call was about, neither summary nor memory has a part of its secret', async () => {
  for (const { written } of SECRETS_IN_PLACE) {
    const commands = Array.from({ length: written.length }, (_, at) => `${'x'.repeat(98 - at)} ${written} and more`);
    const turn = await fullWindow(commands.slice(0, 60));
    await passOver(turn);
    const left = await leftBehind(turn);
    expect(left).toContain('xxx [redacted: ');
    expect(toldOfSecrets(left)).toEqual([]);
  }
});

test('R28 the summary of a hook, which read the originals, tells no secret of them either', async () => {
  const [{ written }] = SECRETS_IN_PLACE as readonly [(typeof SECRETS_IN_PLACE)[0]];
  const turn = await fullWindow([`psql ${written}`]);
  const hooked = {
    ...dependencies,
    beforeCompaction: [() => ({ summary: `They ran psql ${written}; it opens the admin page too.` })],
  };
  await passOver(turn, hooked);
  const left = await leftBehind(turn);
  expect(left).toContain('opens the admin page too');
  expect(toldOfSecrets(left)).toEqual([]);
});

test('P28 hooks are asked three times at most, and Postgres counts them: attempts of Temporal may be outages', async () => {
  const turn = await fullWindow();
  let asked = 0;
  const hook = () => {
    asked += 1;
    return { cancel: true as const };
  };
  const worker = { ...dependencies, beforeCompaction: [hook] };
  const input = { turn, callNumber: 8, forced: null };
  const asking = () => askHooks(worker, input, execution({ attempt: 9 }));
  expect((await asking()).kind).toBe('fits');
  for (let again = 1; again <= 2; again += 1) await asking();
  expect((await asking()).kind).toBe('planned');
  expect(asked).toBe(3);
});
