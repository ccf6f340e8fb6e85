import { describe, expect, it } from 'vitest';
import { memoriesAfter, relevantMemories } from '../../src/activities/turn/agent-memories.ts';
import { textOf } from '../../src/context/log/content.ts';
import { NO_CALIBRATION, estimateTokens } from '../../src/context/log/estimate.ts';
import { measureText } from '../../src/context/log/measure.ts';
import { budgetFor } from '../../src/context/policy/budget.ts';
import { WOLFFISH_POLICY } from '../../src/context/policy/presets/wolffish.ts';
import { projectView } from '../../src/context/view/project-view.ts';
import { claimToolCall } from '../../src/store/attempts/tool-calls.ts';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { newId } from '../../src/store/database/ids.ts';
import { appendNote } from '../../src/store/log/entries.ts';
import { readCurrentProjectionSource } from '../../src/store/log/view.ts';
import { lockMemories } from '../../src/store/memory/memories.ts';
import { termsOf } from '../../src/store/memory/memory-terms.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import type { AgentSnapshot } from '../../src/turn/agent-snapshot.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import {
  SNAPSHOT,
  answer,
  closeToolCall,
  finishToolCall,
  startTurn,
  text,
  useTestStore,
  claimer,
} from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startRememberer } from './support/rememberer.ts';
import type { RemembererOptions } from './support/rememberer.ts';

const { sql } = useTestStore();

const rememberer = (options?: RemembererOptions) => startRememberer(sql, options);

describe('what is remembered already', () => {
  it('takes the place of what it is said to supersede', async () => {
    const { inForce, remember } = await rememberer();
    const fridays = await remember('Deploys run on Fridays.');
    const mondays = await remember('Deploys run on Mondays.');
    expect(await remember('Deploys run on Fridays.', { supersedes: [mondays.id, fridays.id] })).toEqual({
      id: fridays.id,
      isNew: false,
      supersededInstead: [],
    });
    expect((await inForce()).map(({ text }) => text)).toEqual(['Deploys run on Fridays.']);
    // And back again: no circle, of which none would be left in force.
    const again = await remember('Deploys run on Mondays.', { supersedes: [fridays.id] });
    expect(again.isNew).toBe(true);
    expect((await inForce()).map(({ text }) => text)).toEqual(['Deploys run on Mondays.']);
  });

  it('is one memory when two conversations state it at once', async () => {
    const one = await rememberer();
    const other = await rememberer({ user: one.user });
    // Both wait for it behind the look outside the transaction, however fast one of them is.
    const tools = await Promise.all([one.toolOf(), other.toolOf()]);
    const stated = await sql.begin(async (open) => {
      await lockMemories(open, { scope: 'user', scopeName: one.user });
      const both = tools.map(({ memories }) => memories.remember(one.state('The staging port is 6432.')));
      await waitUntil('both wait for the scope', async () => {
        const waiting = await sql`
          select from pg_locks l join pg_database d on d.oid = l.database
          where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
        return waiting.length === 2;
      });
      return { both };
    });
    const kept = await Promise.all(stated.both);
    expect(new Set(kept.map(({ id }) => id)).size).toBe(1);
    expect(kept.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await one.inForce()).toHaveLength(1);
  });

  it('tells what it took the place of where what it names was over already, also when the call is repeated', async () => {
    const { inForce, remember, toolOf, state } = await rememberer();
    const first = await remember('The port is 1.');
    const second = await remember('The port is 2.', { supersedes: [first.id] });
    const { memories } = await toolOf();
    const third = state('The port is 3.', { supersedes: [first.id] });
    const kept = await memories.remember(third);
    expect(kept).toMatchObject({ isNew: true, supersededInstead: [{ named: first.id, instead: second.id }] });
    expect(await memories.remember(third)).toEqual(kept);
    expect((await inForce()).map(({ text }) => text)).toEqual(['The port is 3.']);
    const fourth = await remember('The port is 4.', { supersedes: [second.id, kept.id] });
    expect(fourth.supersededInstead).toEqual([]);
  });

  it('counts for as long and as much as was said last', async () => {
    const { inForce, remember } = await rememberer();
    await remember('The staging port is 6432.', { expiresInDays: 1, confidence: 0.5 });
    await remember('The staging port is 6432.');
    expect(await inForce()).toMatchObject([{ expiresAt: null, confidence: 1, kind: 'fact' }]);
    await remember('The staging port is 6432.', { expiresInDays: 2, confidence: 0.25, kind: 'decision' });
    const [memory] = await inForce();
    expect(memory?.kind).toBe('decision');
    expect(memory?.confidence).toBe(0.25);
    expect(Date.parse(memory?.expiresAt ?? '')).toBeGreaterThan(Date.now() + 86_400_000);
  });

  it('is not found by a part of its id, as notes show of conversations', async () => {
    const { forget, inForce, remember } = await rememberer();
    const { id } = await remember('The staging port is 6432.');
    expect(await forget(id.slice(0, 8))).toBe(false);
    const attempt = remember('The staging port is 6433.', { supersedes: [id.slice(0, 8)] });
    await expect(attempt).rejects.toMatchObject({ code: 'memory_not_found' });
    expect(await inForce()).toHaveLength(1);
    expect(await forget(id)).toBe(true);
    expect(await inForce()).toEqual([]);
  });
});

async function insertFacts(user: string, texts: readonly string[]): Promise<void> {
  const terms = texts.map((text) => termsOf({ scope: 'user', scopeName: user, kind: 'fact', text }).join(' '));
  await sql`
    insert into memories (id, tenant, scope, scope_name, kind, text, terms, origin)
    select gen_random_uuid(), 'default', 'user', ${user}, 'fact', to_json(t.text), string_to_array(t.terms, ' '), 'user'
    from unnest(${[...texts]}::text[], ${terms}::text[]) as t (text, terms)`;
}

it('a memory that is older than a thousand others is not remembered twice', async () => {
  const heron = 'The purple heron of Utrecht eats eels.';
  const { user, inForce, remember } = await rememberer();
  const { id } = await remember(heron);
  await insertFacts(
    user,
    Array.from({ length: 1_100 }, (_, n) => `The wall number ${n + 1} of the house is green.`),
  );
  expect(await remember(heron)).toMatchObject({ id, isNew: false });
  const byHand = (await inForce()).find(({ text }) => text.startsWith('The wall number'));
  expect(await remember(byHand?.text ?? '')).toMatchObject({ id: byHand?.id, isNew: false });
  // Equal but for a letter: another one.
  expect(await remember(`${heron}!`)).toMatchObject({ isNew: true });
});

it('memories take a twentieth of the window at most, whatever is configured', async () => {
  const { user } = await rememberer();
  await insertFacts(
    user,
    Array.from({ length: 100 }, (_, n) => `The heron number ${n + 1} eats ${'eels and '.repeat(30)}`),
  );
  const { conversationId } = await startTurn(sql, 'And the heron?');
  const tokensWith = async (tokens: number): Promise<number> => {
    const snapshot = { ...SNAPSHOT, memory: { user, tokens } };
    const note = await relevantMemories(sql, { conversationId, snapshot, goal: 'heron' });
    return estimateTokens(measureText(textOf(note?.content ?? [])), NO_CALIBRATION);
  };
  const twentieth = budgetFor(SNAPSHOT.policy, SNAPSHOT.modelLimits).inputBudget / 20;
  const most = await tokensWith(100_000);
  expect(most).toBeLessThanOrEqual(twentieth);
  expect(most).toBeGreaterThan(0.8 * twentieth);
  expect(await tokensWith(500)).toBeLessThanOrEqual(500);
});

describe('what another conversation remembered', () => {
  const TEXT = 'Deploys run on Fridays after the daily meeting.';

  it("is the user's, with its source, once he says it himself, and outlives that conversation", async () => {
    const first = await rememberer();
    const { id } = await first.remember(TEXT);
    expect(await first.inForce()).toMatchObject([{ id, origin: 'model', conversationId: first.turn.conversationId }]);
    const second = await rememberer({ said: `Remember: ${TEXT}`, user: first.user });
    expect(await second.remember(TEXT)).toMatchObject({ id, isNew: false });
    expect(await second.inForce()).toMatchObject([{ id, origin: 'user', conversationId: second.turn.conversationId }]);
    await endAndDelete(first.turn);
    expect(await second.inForce()).toMatchObject([{ id }]);
  });

  it('keeps its source when the model states it again, and goes with it', async () => {
    const first = await rememberer({ said: `Remember: ${TEXT}` });
    const { id } = await first.remember(TEXT);
    const second = await rememberer({ user: first.user });
    await second.remember(TEXT);
    expect(await second.inForce()).toMatchObject([{ id, origin: 'user', conversationId: first.turn.conversationId }]);
    await endAndDelete(first.turn);
    expect(await second.inForce()).toEqual([]);
  });

  async function endAndDelete(turn: TurnReference): Promise<void> {
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    await deleteConversation(sql, turn.conversationId);
  }
});

it('R28 a memory is kept without secrets of well-known forms', async () => {
  const { inForce, remember } = await rememberer({ said: 'Deploy it' });
  await remember('Deploy to postgres://admin:hunter2pw@db.example.com:5432/orders.');
  const [memory] = await inForce();
  expect(memory?.text).toMatch(/^Deploy to \[redacted: /u);
  expect(memory?.text).not.toContain('hunter2pw');
});

describe('memories of a tool that was replaced', () => {
  /** Each change that a memory tool can make, of what `remember` said before. */
  async function replaced() {
    const { turn, toolOf, state, inForce, remember } = await startRememberer(sql);
    const kept = await remember('The staging port is 6432.');
    const { call, memories } = await toolOf();
    const changes = {
      new: () => memories.remember(state('Deploys run on Fridays.')),
      again: () => memories.remember(state('The staging port is 6432.', { confidence: 0.1 })),
      forgotten: () => memories.forget(kept.id),
    };
    const expectRefused = async (code: string): Promise<void> => {
      for (const [name, change] of Object.entries(changes))
        expect([name, await change().catch((error: unknown) => error)]).toEqual([
          name,
          expect.objectContaining({ code }),
        ]);
      expect(await inForce()).toMatchObject([{ text: 'The staging port is 6432.', confidence: 1 }]);
    };
    return { turn, call, expectRefused };
  }

  it('stay as they are when a newer attempt runs the call', async () => {
    const { call, expectRefused } = await replaced();
    await claimToolCall(sql, { ...call, ...claimer('worker-2', 2) });
    await expectRefused('superseded_attempt');
  });

  it('stay as they are when a newer turn has the conversation', async () => {
    const { turn, expectRefused } = await replaced();
    await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
    await expectRefused('stale_epoch');
  });
});

it('an attempt that died behind its write is followed by one that says the same', async () => {
  const { toolOf, state } = await startRememberer(sql);
  const { memories } = await toolOf();
  const first = await memories.remember(state('Deploys run on Fridays.'));
  expect(first.isNew).toBe(true);
  expect(await memories.remember(state('Deploys run on Fridays.'))).toEqual(first);
});

/** The note that follows a compaction, as it is shown from then on. */
async function noteAfter(turn: TurnReference, snapshot: AgentSnapshot): Promise<string | undefined> {
  const note = await memoriesAfter(sql, { turn, snapshot, summary: '' });
  if (note !== null) await appendNote(sql, { ...note, turn, slot: 'memories', key: newId() });
  return note === null ? undefined : textOf(note.content);
}

it('a note takes back the memories that are gone, and not those in force that notes before it show', async () => {
  const { user, remember, forget } = await startRememberer(sql);
  const eels = await remember('The heron eats eels.');
  await remember('The heron eats frogs.');
  const snapshot = { ...SNAPSHOT, memory: { user, tokens: 1_000 } };
  const turn = await startTurn(sql, 'And the heron?', { snapshot });
  expect(await noteAfter(turn, snapshot)).toMatch(/eels[^]*frogs|frogs[^]*eels/u);
  await forget(eels.id);
  expect(await noteAfter(turn, snapshot)).toMatch(new RegExp(`^No longer holds.*: ${eels.id}$`, 'u'));
});

it('W28 after a compaction the memory block of `wolffish` is the task file: calls with the beginning of each result', async () => {
  const shown = { policy: WOLFFISH_POLICY, namedBlocks: true };
  const turn = await startTurn(sql, 'Read two letters.', { snapshot: shown });
  for (const call of [1, 2]) {
    await answer(sql, turn, call, { calls: 1 });
    await finishToolCall(sql, turn, call, 0, text(`letter ${call} `.repeat(1_000)));
  }
  await noteAfter(turn, { ...SNAPSHOT, ...shown });
  const source = await readCurrentProjectionSource(sql, turn.conversationId);
  const system = source === null ? '' : projectView(source.input).system;
  expect(system).toMatch(
    /<memory>\nTask file of this turn.*## 1\. read_file.*letter 1.*## 2\. read_file.*<\/memory>/su,
  );
  expect(system).toContain('[7000 of 9000 characters omitted; entry ');
});
