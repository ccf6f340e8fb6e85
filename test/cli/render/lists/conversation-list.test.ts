import { expect, test } from 'vitest';
import { conversationListLines, conversationState } from '../../../../src/cli/render/lists/conversation-list.ts';
import type { Conversation } from '../../../../src/client/types.ts';
import { MARKED_STYLE as style } from '../marked-style.ts';
import { conversationOf, turnOf } from '../timeline.ts';

const now = Date.parse('2026-01-01T14:00:00.000Z');

function lines(columns: number | null, ...conversations: Partial<Conversation>[]): string[] {
  return conversationListLines(conversations.map(conversationOf), { columns, style, now });
}

test('a row tells id, state, task, agent, entries, cost and age', () => {
  const turn = turnOf({ endedAt: '2026-01-01T13:00:00.000Z', cost: 0.25 });
  expect(lines(null, { entryCount: 1_234, turn }, { turn: turnOf({ cost: null }) }, {})).toEqual([
    '~conversation~  ~state    ~  ~task  ~  ~agent  ~  ~entries~  ~   cost~  ~last turn~',
    '0000000c      +completed+  A task  default    1,234  $0.2500    1 h ago',
    '0000000c      +completed+  A task  default        9  unknown    2 h ago',
    '0000000c      ~new      ~  A task  default        9             2 h ago',
  ]);
});

test('in a narrow terminal agent and entries go first, then cost and age', () => {
  const titles = (columns: number) => lines(columns, {})[0]?.replaceAll(/[~ ]+/gu, ' ').trim();
  expect(titles(90)).toBe('conversation state task agent entries cost last turn');
  expect(titles(89)).toBe('conversation state task cost last turn');
  expect(titles(60)).toBe('conversation state task cost last turn');
  expect(titles(59)).toBe('conversation state task');
});

test.each([
  [{ state: 'running', outcome: null }, 1, 'running', '#'],
  [{ state: 'waiting_for_approval', outcome: null }, 0, 'waiting for approval', '#'],
  [{ outcome: 'completed' }, 1, 'queued', '#'],
  [{ outcome: 'stopped' }, 0, 'stopped', '~'],
  [{ outcome: 'context_exhausted' }, 0, 'context exhausted', '!'],
] as const)('the state of %j with %i messages waiting is "%s"', (changes, waitingMessages, state, mark) => {
  const conversation = { turn: turnOf(changes), waitingMessages, workerNeed: null };
  expect(conversationState(conversation)).toBe(state);
  expect(lines(null, conversation)[1]).toContain(`${mark}${state}${mark}`);
});
