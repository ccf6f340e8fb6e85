import { expect, test } from 'vitest';
import { textsOf } from '../../src/context/log/content.ts';
import { newId } from '../../src/store/database/ids.ts';
import { listEvents } from '../../src/store/log/events.ts';
import { readNewestNote } from '../../src/store/log/newest-note.ts';
import { readPins } from '../../src/store/log/pins.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import {
  answer,
  begin,
  closeToolCall,
  continueConversation,
  finishToolCall,
  send,
  startTurn,
  text,
  useTestStore,
} from './support/store-builders.ts';
import { end } from './support/branch-builders.ts';
import { exported, fileOf, importLines } from './support/conversation-files.ts';

const { sql } = useTestStore();

/** No part of JSON escapes it twice or unescapes it. */
const PIN = 'Write \\u0000 and "quotes" as they are.';

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

test('a file brings the pins of its conversation, word for word, and none of the rules of the agent there', async () => {
  const turn = await startTurn(sql, ['/pin Never touch the heron.', `/pin ${PIN}`].join('\n'), {
    rules: text('Only there.'),
  });
  const { conversationId } = turn;
  await answer(sql, turn, 1);
  await end(sql, turn);
  const lines = await fileOf(sql, conversationId);
  expect(lines.join()).not.toContain('Only there.');
  expect(await importLines(sql, lines)).toMatchObject({ pins: 2 });
  expect(await readPins(sql, conversationId)).toEqual(['Never touch the heron.', PIN]);
  expect(await exported(sql, conversationId)).toEqual(lines);
  await send(sql, { conversationId });
  await continueConversation(sql, conversationId, { rules: text('Only here.') });
  const rules = await readNewestNote(sql, conversationId, 'rules');
  expect(textsOf(rules ?? [])).toEqual(['Only here.', 'Never touch the heron.', PIN]);
});
