import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { takeMessages } from '../../src/store/messages/inbox.ts';
import type { MessageMode } from '../../src/store/messages/messages.ts';
import { isRungFor, noteArrival } from '../../src/store/messages/rings.ts';
import type { RungMessage } from '../../src/store/messages/rings.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { openMovedClock } from './support/moved-clock.ts';
import { endedAs, send, startTurn, useTestStore } from './support/store-builders.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

async function sent({ conversationId }: TurnReference, mode: MessageMode): Promise<RungMessage> {
  return { id: await send(sql, { conversationId, mode }), conversationId, mode };
}

/** A turn beside which a message waits for which it was rung. */
async function rungTurn(mode: MessageMode = 'steer'): Promise<TurnReference> {
  const turn = await startTurn(sql);
  await noteArrival(sql, await sent(turn, mode));
  return turn;
}

test.each([
  ['steer', 'steer', true],
  ['steer', 'queue', true],
  ['queue', 'queue', true],
  // The look behind that ring found nothing for the next step.
  ['queue', 'steer', false],
] as const)(
  'a turn that was rung for a message (%s) needs no ring for one behind it (%s): %s',
  async (first, next, is) => {
    const turn = await rungTurn(first);
    expect(await isRungFor(sql, await sent(turn, next))).toBe(is);
  },
);

test('a message is rung for by itself, and again when it is asked for again', async () => {
  const turn = await startTurn(sql);
  const message = await sent(turn, 'steer');
  expect(await isRungFor(sql, message)).toBe(false);
  await noteArrival(sql, message);
  expect(await isRungFor(sql, message)).toBe(false);
});

test('what comes when the message that was rung for is taken is rung for', async () => {
  const turn = await rungTurn();
  await takeMessages(sql, turn);
  expect(await isRungFor(sql, await sent(turn, 'steer'))).toBe(false);
});

test('what comes while somebody writes to the conversation is rung for: the one before may be about to be taken without it', async () => {
  const turn = await rungTurn();
  const message = await sent(turn, 'steer');
  await sql.begin(async (open) => {
    await open`select from require_epoch(${turn.conversationId}, ${turn.epoch})`;
    expect(await isRungFor(sql, message)).toBe(false);
  });
  expect(await isRungFor(sql, message)).toBe(true);
});

test('what comes when no turn is open is rung for, and the ring is not noted', async () => {
  const turn = await rungTurn();
  await endedAs(sql, turn);
  const message = await sent(turn, 'steer');
  expect(await isRungFor(sql, message)).toBe(false);
  await noteArrival(sql, message);
  const [row] = await sql`select rings from messages where id = ${message.id}`;
  expect(row?.['rings']).toBe(0);
});

test('what comes more than ten seconds after the ring before is rung for', async () => {
  const turn = await rungTurn();
  const message = await sent(turn, 'steer');
  const clock = openMovedClock(url);
  await clock.set(11);
  expect(await isRungFor(clock.sql, message)).toBe(false);
  await clock.close();
});
