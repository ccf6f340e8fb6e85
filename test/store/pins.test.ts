import { expect, test } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { readPins } from '../../src/store/log/pins.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import {
  answer,
  begin,
  closeToolCall,
  continueConversation,
  finishToolCall,
  send,
  text,
  useTestStore,
} from './support/store-builders.ts';

const { sql } = useTestStore();

test('what users and tools pinned stays, whatever the rules of the agent become', async () => {
  const conversationId = newId();
  for (const [rule, message] of [
    ['one', 'Go.\n/pin Use tabs.'],
    ['two', '/pin Never push.'],
    [null, '/unpin 1'],
  ] as const) {
    await send(sql, { conversationId, ...text(message) });
    const begun = await begin(sql, conversationId, { rules: rule === null ? null : text(rule) });
    if (begun.kind === 'begun')
      await endTurn(sql, { turn: begun.turn, outcome: 'completed', reason: null, breakdown: null }, closeToolCall);
  }
  expect(await readPins(sql, conversationId)).toEqual(['Never push.']);
  await send(sql, { conversationId });
  const turn = await continueConversation(sql, conversationId);
  await answer(sql, turn, 1, { calls: 1 });
  await finishToolCall(sql, turn, 1, 0, { ...text('pinned'), pin: 'Answer in Dutch.' });
  expect(await readPins(sql, conversationId)).toEqual(['Never push.', 'Answer in Dutch.']);
  expect(
    (await listEvents(sql, { conversationId })).filter(({ kind }) => kind === 'rules_changed').length,
  ).toBeGreaterThan(4);
});
