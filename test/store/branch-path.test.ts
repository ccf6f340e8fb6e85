import { describe, expect, it, test } from 'vitest';
import { getEntry, listEntries } from '../../src/store/log/entries.ts';
import { readPlanSource } from '../../src/store/compactions/fit-check.ts';
import {
  useTestStore,
  startTurn,
  step,
  answerWith,
  finishToolCall,
  register,
  toolCall,
  continueConversation,
  send,
} from './support/store-builders.ts';
import { compact } from './support/compaction-builders.ts';
import { readActiveEntryIds } from '../../src/store/log/active-entries.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import { NOTHING_CHOSEN, chooseOfBranch } from '../../src/context/summary/branch-summary.ts';
import type { Entry } from '../../src/context/log/entry.ts';
import type { ContentPart } from '../../src/context/log/content.ts';
import { NO_CALIBRATION, estimateTokens } from '../../src/context/log/estimate.ts';
import { measureContent } from '../../src/context/log/measure.ts';
import { readBranchCommand } from '../../src/store/conversations/branch-commands.ts';
import type { Database } from '../../src/store/database/database.ts';
import { chooseLeftEntries, readLeftBranch, readLeftFiles } from '../../src/store/conversations/left-branch.ts';
import { command, end } from './support/branch-builders.ts';
import { newId } from '../../src/store/database/ids.ts';

const { sql } = useTestStore();

describe('branches', () => {
  /** What a fork will do: a branch of its own from an entry on, by the rule that table branches describes. */
  async function fork(conversationId: string, branch: number, from: number, entryId: string): Promise<void> {
    const entry = await getEntry(sql, entryId);
    await sql.begin(async (open) => {
      await open`
        insert into branches (conversation_id, branch, ancestor, through_sequence)
        select conversation_id, ${branch}, ancestor, least(through_sequence, ${entry?.sequence ?? 0})
        from branches where conversation_id = ${conversationId} and branch = ${from}`;
      await open`
        insert into branches (conversation_id, branch, ancestor, through_sequence)
        values (${conversationId}, ${branch}, ${branch}, 2147483647)`;
      await open`update conversations set branch = ${branch}, head_entry_id = ${entryId} where id = ${conversationId}`;
    });
  }

  async function path(conversationId: string): Promise<number[]> {
    return (await listEntries(sql, { conversationId })).map(({ sequence }) => sequence);
  }

  it('show the entries of their own path, and a summary only where what it covers lies on it', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    for (let call = 1; call <= 3; call += 1) await step(sql, turn, call);
    const entries = await listEntries(sql, { conversationId });
    const compactionId = await compact(sql, turn);
    // 1 user, 2-7 three steps, 8 marker. Fork behind what the summary covers: it stays in force.
    await fork(conversationId, 1, 0, entries[4]?.id ?? '');
    await step(sql, turn, 4);
    expect(await path(conversationId)).toEqual([1, 2, 3, 4, 5, 9, 10]);
    const kept = await readPlanSource(sql, turn);
    expect(kept.summary?.compactionId).toBe(compactionId);
    expect([...kept.entries].map(({ sequence }) => sequence)).toEqual([4, 5, 9, 10]);
    // Fork of the fork, before the end of what the summary covers: it does not hold.
    await fork(conversationId, 2, 1, entries[0]?.id ?? '');
    await step(sql, turn, 5);
    expect(await path(conversationId)).toEqual([1, 11, 12]);
    const bare = await readPlanSource(sql, turn);
    expect(bare.summary).toBeNull();
    expect([...bare.entries].map(({ sequence }) => sequence)).toEqual([1, 11, 12]);
    const [row] = await sql<{ letters: string; own: string }[]>`
      select (e.sums).letters::text as letters, (select sum((o.measurements).letters) from entries o
        where o.conversation_id = e.conversation_id and o.sequence in (1, 11, 12))::text as own
      from entries e where e.conversation_id = ${conversationId} and e.sequence = 12`;
    expect(row?.letters).toBe(row?.own);
  });
});

async function readFile(turn: TurnReference, callNumber: number, path: string): Promise<void> {
  const call = toolCall(0, 'read_file', JSON.stringify({ path }));
  await storeAnswer(sql, answerWith(turn, callNumber, await register(sql, turn, callNumber), [call]));
  await finishToolCall(sql, turn, callNumber, 0);
}

test('C22 the four newest entries make a file active, older entries that name it stay', async () => {
  const turn = await startTurn(sql, 'Compare src/first.ts with the rest.');
  const paths = ['src/first.ts', 'src/second.ts', 'src/first.ts', 'src/second.ts'];
  for (const [index, path] of paths.entries()) await readFile(turn, index + 1, path);
  const { conversationId } = turn;
  const entries = await listEntries(sql, { conversationId });
  const sequences = entries.map(({ sequence }) => sequence);
  const active = async (newest: number): Promise<number[]> => {
    const ids = await readActiveEntryIds(sql, { conversationId, sequences: sequences.slice(0, newest) });
    return entries.filter(({ id }) => ids.has(id)).map(({ sequence }) => sequence);
  };
  // 1 message; 2-3, 4-5, 6-7, 8-9 the four reads, each with its result.
  expect(await active(9)).toEqual([1, 2, 4]);
  // Behind the third read, the second file and the first were read last.
  expect(await active(7)).toEqual([1, 2]);
  expect(await active(4)).toEqual([]);
});

const STEPS = 60;
const IMAGE_CHARACTERS = 60_000;
const RESULT_CHARACTERS = 5_000;
const SAID = 'The pumps open at noon. '.repeat(40);

const image = (): ContentPart => ({
  type: 'image',
  mediaType: 'image/png',
  data: 'QUJD'.repeat(IMAGE_CHARACTERS / 4),
  width: 800,
  height: 600,
});

const withMeasurements = (content: readonly ContentPart[]) => ({ content, measurements: measureContent(content) });

/** A conversation whose every step reads a file and gets a screenshot, about to be left for its beginning. */
async function longBranch() {
  const conversationId = newId();
  await send(sql, { conversationId, ...withMeasurements([{ type: 'text', text: 'Count NUL \0 pumps.' }, image()]) });
  const turn = await continueConversation(sql, conversationId);
  const screenshot = withMeasurements([{ type: 'text', text: 'row '.repeat(RESULT_CHARACTERS / 4) }, image()]);
  for (let call = 1; call <= STEPS; call += 1) {
    const read = toolCall(0, 'read_file', JSON.stringify({ path: `pumps/${call}.csv` }));
    const content: ContentPart[] = [{ type: 'text', text: `${call}. ${SAID}` }, read];
    await storeAnswer(sql, answerWith(turn, call, await register(sql, turn, call), content));
    await finishToolCall(sql, turn, call, 0, screenshot);
  }
  await end(sql, turn);
  await command(sql, conversationId, { entryId: null, summarizes: true });
  const known = await readBranchCommand(sql, await continueConversation(sql, conversationId));
  if (known.kind !== 'command') throw new Error(`the command is ${known.kind}`);
  return { conversationId, command: known.command };
}

/** The database, with what each query returns through it. */
function counted() {
  const results: { rows: number; characters: number }[] = [];
  const database = new Proxy(sql, {
    apply(target, self, input: Parameters<Database>) {
      const query: PromiseLike<unknown> = Reflect.apply(target, self, input);
      // A fragment of another query is never awaited.
      const then = query.then.bind(query);
      // oxlint-disable-next-line unicorn/no-thenable -- what is awaited is counted
      query.then = (resolve, reject) =>
        then((rows) => {
          if (Array.isArray(rows)) results.push({ rows: rows.length, characters: JSON.stringify(rows).length });
          return resolve?.(rows) as never;
        }, reject);
      return query;
    },
  });
  return { database, results };
}

async function readAll(database: Database, left: Awaited<ReturnType<typeof longBranch>>): Promise<Entry[]> {
  const items: Entry[] = [];
  for await (const page of readLeftBranch(database, left)) items.push(...page);
  return items;
}

it('is read in pages without images, for its summary no further back than fits, and for its files by its calls', async () => {
  const left = await longBranch();
  const whole = counted();
  const items = await readAll(whole.database, left);
  expect(items.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 1 + 2 * STEPS }, (_, index) => 1 + 2 * STEPS - index),
  );
  expect(items.at(-1)?.content).toEqual([
    { type: 'text', text: 'Count NUL \0 pumps.' },
    { ...image(), data: '' },
  ]);
  for (const { rows, characters } of whole.results) {
    expect(rows).toBeLessThanOrEqual(50);
    expect(characters).toBeLessThan(50 * (RESULT_CHARACTERS + 2_000));
  }

  const [, newest] = items;
  if (newest === undefined) throw new Error('nothing was left');
  const room = { budget: 10 * estimateTokens(newest.measurements, NO_CALIBRATION), calibration: NO_CALIBRATION };
  const choosing = counted();
  const chosen = await chooseLeftEntries(choosing.database, left, room);
  expect(chosen).toEqual(chooseOfBranch(NOTHING_CHOSEN, items, room).entries);
  expect(chosen.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 10 }, (_, index) => 2 * (STEPS - 9 + index)),
  );
  expect(choosing.results).toHaveLength(1);

  const listing = counted();
  const { read } = await readLeftFiles(listing.database, left);
  expect(read).toHaveLength(STEPS);
  expect(Math.max(...listing.results.map(({ characters }) => characters))).toBeLessThan(50 * SAID.length);
});

it('enters its summary whole where all of it fits', async () => {
  const left = await longBranch();
  const items = (await readAll(sql, left)).filter(({ kind }) => kind !== 'tool_result');
  const room = { budget: 1_000_000, calibration: NO_CALIBRATION };
  expect(await chooseLeftEntries(sql, left, room)).toEqual(items.toReversed());
});
