import { expect, test } from 'vitest';
import { commitCompaction } from '../../src/store/compactions/compactions.ts';
import { appendNoteBefore } from '../../src/store/log/entries.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { commitRequest, plan, turnWithSteps } from './support/compaction-builders.ts';
import {
  answer,
  FIRST_ATTEMPT,
  register,
  said,
  send,
  startTurn,
  text,
  useTestStore,
} from './support/store-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';

const { sql } = useTestStore();

const OWN_RUN = FIRST_ATTEMPT.runId;

test('messages are taken before a call as long as it is not registered, and afterwards never', async () => {
  const turn = await startTurn(sql);
  await send(sql, { conversationId: turn.conversationId, ...text('in time') });
  expect(await takeMessages(sql, turn, { callNumber: 1, runId: OWN_RUN })).toEqual({ messages: 1 });
  await register(sql, turn, 1);
  // The attempt that took them is repeated because its result was lost.
  expect(await takeMessages(sql, turn, { callNumber: 1, runId: OWN_RUN })).toEqual({ messages: 0 });
  await send(sql, { conversationId: turn.conversationId, ...text('late') });
  const late = takeMessages(sql, turn, { callNumber: 1, runId: OWN_RUN });
  await expect(late).rejects.toMatchObject({ code: 'call_registered', permanent: true });
  expect(await said(sql, turn.conversationId)).toEqual(['user hello', 'user in time']);
  expect(await countWaiting(sql, turn.conversationId)).toMatchObject({ steering: 1 });
  expect(await takeMessages(sql, turn, { callNumber: 2, runId: OWN_RUN })).toEqual({ messages: 1 });
});

test('a newer call than the one that messages stand before keeps them out too', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1);
  await register(sql, turn, 4);
  await send(sql, { conversationId: turn.conversationId, ...text('late') });
  const late = takeMessages(sql, turn, { callNumber: 2, runId: OWN_RUN });
  await expect(late).rejects.toMatchObject({ code: 'call_registered' });
});

test('a run that repeats what another one did leaves messages to the steps that follow', async () => {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1);
  await send(sql, { conversationId: turn.conversationId, ...text('after a reset') });
  expect(await takeMessages(sql, turn, { callNumber: 1, runId: 'after a reset' })).toEqual({ messages: 0 });
  expect(await takeMessages(sql, turn, { callNumber: 2, runId: 'after a reset' })).toEqual({ messages: 1 });
});

test('a note is appended before its call only, once', async () => {
  const turn = await startTurn(sql);
  const note = { ...text('near'), turn, slot: 'continuation', key: 'limit:cost' } as const;
  for (let tries = 0; tries < 2; tries += 1) await appendNoteBefore(sql, { callNumber: 1, runId: OWN_RUN }, note);
  await register(sql, turn, 1);
  await appendNoteBefore(sql, { callNumber: 1, runId: OWN_RUN }, note);
  const late = appendNoteBefore(sql, { callNumber: 1, runId: OWN_RUN }, { ...note, key: 'limit:steps' });
  await expect(late).rejects.toMatchObject({ code: 'call_registered', permanent: true });
  await appendNoteBefore(sql, { callNumber: 1, runId: 'after a reset' }, { ...note, key: 'limit:steps' });
  expect(await said(sql, turn.conversationId)).toEqual(['user hello', 'note near']);
});

test('while a compaction is planned before a call, nothing else is appended before it, and the plan is committed', async () => {
  const turn = await turnWithSteps(sql);
  const { compactionId } = (await plan(sql, turn)).compaction;
  await send(sql, { conversationId: turn.conversationId, ...text('late') });
  // Of a worker that was frozen: the attempt that Temporal counts on is long over.
  const boundary = { callNumber: 3, runId: OWN_RUN };
  expect(await takeMessages(sql, turn, boundary)).toEqual({ messages: 0 });
  const note = { ...text('near'), turn, slot: 'continuation', key: 'limit:cost' } as const;
  expect(await appendNoteBefore(sql, boundary, note)).toBeNull();
  expect(await commitCompaction(sql, commitRequest(turn, compactionId))).toMatchObject({ kind: 'committed' });
  expect(await takeMessages(sql, turn, boundary)).toEqual({ messages: 1 });
});

test('a plan that was left, or under which something was appended, keeps nothing from the calls that follow', async () => {
  const turn = await turnWithSteps(sql);
  await plan(sql, turn);
  await send(sql, { conversationId: turn.conversationId, ...text('next') });
  expect(await takeMessages(sql, turn, { callNumber: 4, runId: OWN_RUN })).toEqual({ messages: 1 });
  await send(sql, { conversationId: turn.conversationId, ...text('more') });
  expect(await takeMessages(sql, turn, { callNumber: 3, runId: OWN_RUN })).toEqual({ messages: 1 });
});
