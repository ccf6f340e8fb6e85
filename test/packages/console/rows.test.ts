import { expect, test } from 'vitest';
import type { Entry, TimelineEvent } from '../../../packages/console/src/api/types.ts';
import { rowsOf } from '../../../packages/console/src/conversation/rows.ts';

const time = (second: number): string => `2025-11-28T10:00:0${second}.000Z`;

function event(sequence: number, kind: string, data: Record<string, unknown>): TimelineEvent {
  return { sequence, kind, turnId: 't', createdAt: time(sequence), data };
}

function entry(sequence: number, kind: Entry['kind'], content: Entry['content']): Entry {
  const none = { slot: null, toolName: null, originalBytes: null, compactionId: null, isError: false, lateResults: [] };
  const at = { entryId: `e${sequence}`, sequence, turnId: 't', createdAt: time(sequence * 2) };
  return { ...none, ...at, kind, callNumber: 1, callIndex: kind === 'tool_result' ? 0 : null, content };
}

test('the timeline shows where a worker was lost and another one took over, between the entries', () => {
  const rows = rowsOf({
    entries: [
      entry(1, 'user', [{ type: 'text', text: 'Deploy' }]),
      entry(2, 'assistant', [{ type: 'tool_call', index: 0, id: 'c', name: 'deploy', arguments: '{}' }]),
      entry(4, 'tool_result', [{ type: 'text', text: 'deployed' }]),
    ],
    events: [
      event(3, 'model_call_reclaimed', { callNumber: 1, attempt: 2 }),
      event(5, 'tool_call_reclaimed', {
        callNumber: 1,
        callIndex: 0,
        name: 'deploy',
        attempt: 2,
        workerIdentity: 'worker-b',
      }),
      event(6, 'turn_ended', { outcome: 'completed' }),
    ],
    hasEarlier: false,
    waitingCalls: [],
    openTurnId: null,
  });
  expect(rows.map((row) => (row.entry === null ? row.line.text : row.entry.kind))).toEqual([
    'user',
    'A worker was lost: another one makes call 1 again, attempt 2.',
    'assistant',
    'A worker was lost: worker-b runs deploy (1.0) again, attempt 2.',
  ]);
  expect(rows.map((row) => (row.entry === null ? [] : row.calls.map(({ result }) => result?.entryId)))).toEqual([
    [],
    [],
    ['e4'],
    [],
  ]);
});
