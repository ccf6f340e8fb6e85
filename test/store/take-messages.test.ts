import { describe, expect, it } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { listEntries } from '../../src/store/log/entries.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { readTurnForMessage } from '../../src/store/turns/turns.ts';
import { send, startTurn, text, useTestStore } from './support/store-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';

const { sql } = useTestStore();

describe('takeMessages', () => {
  it('appends what steers in order of arrival, once, and leaves what is queued', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    for (const word of ['one', 'two']) await send(sql, { conversationId, ...text(word) });
    await send(sql, { conversationId, mode: 'queue', ...text('later') });
    expect(await takeMessages(sql, turn)).toEqual({ messages: 2 });
    expect(await takeMessages(sql, turn)).toEqual({ messages: 0 });
    const entries = await listEntries(sql, { conversationId });
    expect(entries.map((entry) => entry.content)).toEqual(['hello', 'one', 'two'].map((word) => text(word).content));
    expect(await countWaiting(sql, turn.conversationId)).toMatchObject({ waiting: 1, steering: 0 });
  });

  it('takes each of 300 messages from 30 clients once and in the order of its client, while two takers race', async () => {
    const turn = await startTurn(sql);
    const { conversationId } = turn;
    const sending = new AbortController();
    const clients = Array.from({ length: 30 }, async (_, client) => {
      for (let number = 0; number < 10; number += 1) {
        await send(sql, { conversationId, ...text(`${client}:${number}`) });
      }
    });
    const taker = async (): Promise<void> => {
      while (!sending.signal.aborted) await takeMessages(sql, turn);
    };
    const takers = [taker(), taker()];
    await Promise.all(clients);
    sending.abort();
    await Promise.all(takers);
    await takeMessages(sql, turn);
    const entries = await listEntries(sql, { conversationId, limit: 1_000 });
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
    const said = entries
      .slice(1)
      .flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
    expect(new Set(said).size).toBe(300);
    expect(said).toHaveLength(300);
    for (let client = 0; client < 30; client += 1) {
      const own = said.filter((word) => word.startsWith(`${client}:`));
      expect(own).toEqual(Array.from({ length: 10 }, (_, number) => `${client}:${number}`));
    }
  });

  it('tells of a message which turn took it', async () => {
    const turn = await startTurn(sql);
    const messageId = await send(sql, { conversationId: turn.conversationId });
    const { conversationId } = turn;
    expect(await readTurnForMessage(sql, { conversationId, messageId })).toEqual({ state: 'waiting' });
    await takeMessages(sql, turn);
    expect(await readTurnForMessage(sql, { conversationId, messageId })).toMatchObject({
      state: 'taken',
      turn: { turn },
    });
    expect(await readTurnForMessage(sql, { conversationId, messageId: 'unknown' })).toBeNull();
    expect(await readTurnForMessage(sql, { conversationId: newId(), messageId })).toBeNull();
  });
});
