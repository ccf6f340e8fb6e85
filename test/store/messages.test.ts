import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { EVENTS_CHANNEL } from '../../src/store/log/events.ts';
import { newId } from '../../src/store/database/ids.ts';
import { acceptMessage, acceptOnNewBranch } from '../../src/store/messages/messages.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import type { MessageInput } from '../../src/store/messages/messages.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { refuseBranchCommand } from '../../src/store/conversations/change-branch.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { readTurnForMessage } from '../../src/store/turns/turns.ts';
import { verify } from '../../src/verify/verify.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeConversation } from './support/make-conversation.ts';
import { closeToolCall, continueConversation, openTestStore, said, startTurn, text } from './support/store-builders.ts';
import type { TestStore } from './support/store-builders.ts';

let store: TestStore;
let sql: Database;
let owner: Database;

beforeAll(async () => {
  store = await openTestStore(30);
  ({ sql, owner } = store);
});
afterAll(() => store.close());

function message(overrides: Partial<MessageInput> = {}): MessageInput {
  return { id: newId(), conversationId: newId(), kind: 'message', ...text('hello'), ...overrides };
}

async function conversation(): Promise<string> {
  const conversationId = newId();
  await makeConversation(sql, conversationId);
  return conversationId;
}

describe('a resume', () => {
  /** Holds what commits a resume until the test lets it: the others are sent meanwhile. */
  async function holdCommits(): Promise<{ release(): Promise<void> }> {
    await owner.unsafe(`
      create function wait_for_test() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
      create constraint trigger hold_commit after insert on messages deferrable initially deferred
        for each row when (new.kind = 'resume') execute function wait_for_test()`);
    const holder = await sql.reserve();
    await holder`select pg_advisory_lock(4711)`;
    return {
      async release() {
        await holder`select pg_advisory_unlock(4711)`;
        holder.release();
      },
    };
  }

  it('is refused while another one waits, unless it is the same; of several at once one is accepted', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
    const resume = (id: string) => message({ id, conversationId, kind: 'resume', raise: { cost: 2 }, content: [] });
    const ids = Array.from({ length: 8 }, () => newId());
    const commits = await holdCommits();
    const sending = Promise.allSettled(ids.map((id) => acceptMessage(sql, resume(id))));
    await waitUntil('one has written its row, and the others wait for it', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === ids.length;
    });
    await commits.release();
    const sent = await sending;
    await owner`drop trigger hold_commit on messages`;
    const accepted = ids.filter((_, index) => sent[index]?.status === 'fulfilled');
    expect(accepted).toHaveLength(1);
    await expect(acceptMessage(sql, resume(newId()))).rejects.toMatchObject({ code: 'resume_waiting' });
    expect(await acceptMessage(sql, resume(accepted[0] ?? ''))).toMatchObject({ state: 'duplicate' });
    const next = await continueConversation(sql, conversationId);
    await endTurn(sql, { turn: next, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall);
    expect(await acceptMessage(sql, resume(newId()))).toMatchObject({ state: 'accepted' });
  });
});

describe('acceptMessage', () => {
  it('takes the same message once, however often and from however many clients it is sent', async () => {
    const sent = message({ conversationId: await conversation() });
    const results = await Promise.all(Array.from({ length: 20 }, () => acceptMessage(sql, sent)));
    expect(results.filter(({ state }) => state === 'accepted')).toHaveLength(1);
    expect(await listWaitingMessages(sql, sent.conversationId)).toHaveLength(1);
  });

  it.each<[string, Partial<MessageInput>]>([
    ['content', text('other')],
    ['mode', { mode: 'queue' }],
  ])('refuses the same id with another %s', async (_, change) => {
    const sent = message({ conversationId: await conversation() });
    await acceptMessage(sql, sent);
    await expect(acceptMessage(sql, { ...sent, ...change })).rejects.toMatchObject({ code: 'message_id_reused' });
  });

  it('takes the same id in two conversations for two messages', async () => {
    const sent = message({ conversationId: await conversation() });
    const other = { ...sent, ...text('other'), conversationId: await conversation() };
    for (const each of [sent, other]) {
      expect(await acceptMessage(sql, each)).toMatchObject({ state: 'accepted' });
      const turn = await continueConversation(sql, each.conversationId);
      const taken = await readTurnForMessage(sql, { conversationId: each.conversationId, messageId: sent.id });
      expect(taken).toMatchObject({ state: 'taken', turn: { turn } });
    }
    expect(await said(sql, other.conversationId)).toEqual(['user other']);
  });

  it('refuses ids that cannot be', async () => {
    await expect(acceptMessage(sql, message({ id: '' }))).rejects.toMatchObject({ code: 'invalid_message_id' });
    await expect(acceptMessage(sql, message({ id: 'x'.repeat(201) }))).rejects.toMatchObject({
      code: 'invalid_message_id',
    });
    await expect(acceptMessage(sql, message({ conversationId: 'mine' }))).rejects.toMatchObject({ code: 'invalid_id' });
    const conversationId = await conversation();
    expect(await acceptMessage(sql, message({ conversationId, id: 'ä'.repeat(200) }))).toMatchObject({
      state: 'accepted',
    });
  });

  it('refuses a command for a conversation that does not exist', async () => {
    await expect(acceptMessage(sql, message({ kind: 'stop', content: [] }))).rejects.toMatchObject({
      code: 'conversation_not_found',
    });
  });

  it('refuses a user message beside 1,000 that wait, and no command; the same message again is no other one', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    await owner`
      insert into messages (conversation_id, id, kind, mode, content, measurements, sent_epoch)
      select conversation_id, id || n, kind, mode, content, measurements, sent_epoch
      from messages, generate_series(1, 999) n where conversation_id = ${conversationId}`;
    const last = message({ conversationId, mode: 'queue' });
    await acceptMessage(sql, last);
    await expect(acceptMessage(sql, message({ conversationId }))).rejects.toMatchObject({ code: 'too_many_waiting' });
    expect(await acceptMessage(sql, last)).toMatchObject({ state: 'duplicate' });
    for (const kind of ['stop', 'compact'] as const)
      expect(await acceptMessage(sql, message({ conversationId, kind, content: [] }))).toMatchObject({
        state: 'accepted',
      });
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    await continueConversation(sql, conversationId);
    expect(await listEntries(sql, { conversationId, limit: 2_000 })).toHaveLength(1_001);
    expect(await acceptMessage(sql, message({ conversationId }))).toMatchObject({ state: 'accepted' });
  });

  it('waits for whoever holds the conversation, and sees whether a turn is open behind that', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    expect(await acceptMessage(sql, message({ conversationId }))).toMatchObject({ isTurnOpen: true });
    const holder = await sql.reserve();
    await holder`begin`;
    await holder`update conversations set active_turn_id = null where id = ${conversationId}`;
    const sending = acceptMessage(sql, message({ conversationId }));
    await waitUntil('the sender waits for the lock', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === 1;
    });
    await holder`commit`;
    holder.release();
    expect(await sending).toMatchObject({ state: 'accepted', isTurnOpen: false });
  });

  it('wakes watchers', async () => {
    const heard: string[] = [];
    const listening = await sql.listen(EVENTS_CHANNEL, (payload) => heard.push(payload));
    const sent = message({ conversationId: await conversation() });
    await acceptMessage(sql, sent);
    await waitUntil('the watcher is told', () => heard.includes(`${sent.conversationId} 0`));
    await listening.unlisten();
  });
});

describe('acceptOnNewBranch', () => {
  /** An idle conversation, and a fork and a message that were not sent yet. */
  async function idle(): Promise<{ fork: MessageInput; again: MessageInput }> {
    const turn = await startTurn(sql);
    await endTurn(sql, { turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
    const { conversationId } = turn;
    const target = { entryId: null, summarizes: false };
    return {
      fork: message({ conversationId, kind: 'fork', content: [], target }),
      again: message({ conversationId, mode: 'queue', ...text('hello') }),
    };
  }

  it('sends both or neither, and the same message once, with one fork', async () => {
    const { fork, again } = await idle();
    const { conversationId } = fork;
    const sending = Array.from({ length: 5 }, () => acceptOnNewBranch(sql, { ...fork, id: newId() }, again));
    const states = (await Promise.all(sending)).map(({ state }) => state);
    expect(states.toSorted()).toEqual(['accepted', ...Array.from({ length: 4 }, () => 'duplicate')]);
    expect((await listWaitingMessages(sql, conversationId)).map(({ kind }) => kind)).toEqual(['fork', 'message']);
    // A message waits: the conversation is not idle.
    const other = message({ conversationId, mode: 'queue' });
    const refused = acceptOnNewBranch(sql, { ...fork, id: newId() }, other);
    await expect(refused).rejects.toMatchObject({ code: 'conversation_busy' });
    const reused = acceptOnNewBranch(sql, { ...fork, id: newId() }, { ...again, ...text('other') });
    await expect(reused).rejects.toMatchObject({ code: 'message_id_reused' });
    expect(await listWaitingMessages(sql, conversationId)).toHaveLength(2);
  });

  it.each(['regenerate', 'fork'] as const)(
    'accepts one of several changes of branch that are sent at once: %s',
    async (how) => {
      for (let round = 0; round < 6; round += 1) {
        const { fork, again } = await idle();
        const send = () =>
          how === 'fork'
            ? acceptMessage(sql, { ...fork, id: newId() })
            : acceptOnNewBranch(sql, { ...fork, id: newId() }, { ...again, id: newId() });
        const sent = await Promise.allSettled([send(), send(), send()]);
        const refusals = sent.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
        expect(refusals).toEqual([
          expect.objectContaining({ code: 'conversation_busy' }),
          expect.objectContaining({ code: 'conversation_busy' }),
        ]);
        const waiting = await listWaitingMessages(sql, fork.conversationId);
        expect(waiting.map(({ kind }) => kind)).toEqual(how === 'fork' ? ['fork'] : ['fork', 'message']);
      }
    },
  );

  it('is refused when a message is sent before it, and stands before one that is sent after it', async () => {
    for (let round = 0; round < 12; round += 1) {
      const { fork, again } = await idle();
      const plain = message({ conversationId: fork.conversationId });
      const [changed, sent] = await Promise.allSettled([
        acceptOnNewBranch(sql, fork, again),
        acceptMessage(sql, plain),
      ]);
      expect(sent.status).toBe('fulfilled');
      const waiting = await listWaitingMessages(sql, fork.conversationId);
      expect(waiting.map(({ id }) => id)).toEqual(
        changed.status === 'fulfilled' ? [fork.id, again.id, plain.id] : [plain.id],
      );
    }
  });

  it.each(['refused', 'stopped'] as const)('takes the message back when the fork is %s', async (how) => {
    const { fork, again } = await idle();
    const { conversationId } = fork;
    await acceptOnNewBranch(sql, fork, again);
    const turn = await continueConversation(sql, conversationId);
    expect(await listWaitingMessages(sql, conversationId)).toHaveLength(2);
    if (how === 'refused') await refuseBranchCommand(sql, turn, { messageId: fork.id, refusal: 'conversation_busy' });
    const [outcome, reason] =
      how === 'refused' ? (['completed', 'conversation_busy'] as const) : (['stopped', null] as const);
    await endTurn(sql, { turn, outcome, reason, breakdown: null }, closeToolCall);
    expect(await listWaitingMessages(sql, conversationId)).toEqual([]);
    const ended = await readTurnForMessage(sql, { conversationId, messageId: again.id });
    expect(ended).toMatchObject({ state: 'taken', turn: { outcome, reason } });
    expect(await said(sql, conversationId)).toEqual(['user hello']);
    const { invariants } = await verify(sql, { conversationId });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  });
});
