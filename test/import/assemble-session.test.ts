import { expect, test } from 'vitest';
import { earlierResult } from '../../src/context/view/notes.ts';
import { NOT_RECORDED, SessionAssembler } from '../../src/import/assemble-session.ts';
import type { LogRecord } from '../../src/import/assemble-session.ts';
import type { SessionRecord } from '../../src/import/session-record.ts';

const text = (said: string) => [{ type: 'text' as const, text: said }];
const user = (said: string): SessionRecord => ({ kind: 'user', content: text(said) });
const answer = (...calls: readonly string[]): SessionRecord => ({
  kind: 'assistant',
  content: calls.map((id, index) => ({ type: 'tool_call', index, id, name: `tool-${id}`, arguments: '{}' })),
});
const result = (callId: string): SessionRecord => ({
  kind: 'tool_result',
  callId,
  isError: false,
  content: text(callId),
});

function assemble(records: readonly SessionRecord[]): { log: LogRecord[]; problems: string[] } {
  const problems: string[] = [];
  const assembler = new SessionAssembler((problem) => problems.push(problem));
  return { log: [...records.flatMap((record) => assembler.add(record)), ...assembler.end()], problems };
}

const brief = (record: LogRecord): string => {
  switch (record.kind) {
    case 'user':
      return `user turn ${record.turn}`;
    case 'assistant':
      return `answer ${record.turn}.${record.callNumber}`;
    case 'tool_result':
      return `result ${record.turn}.${record.callNumber}.${record.callIndex}${record.outcome === 'outcome_unknown' ? ' missing' : ''}`;
    default:
      return record.kind;
  }
};

test('a turn goes from a message to the answer without calls; call numbers count its answers', () => {
  const { log, problems } = assemble([user('a'), answer('x'), result('x'), answer(), user('b'), user('c'), answer()]);
  expect(log.map(brief)).toEqual([
    'user turn 1',
    'answer 1.1',
    'result 1.1.0',
    'answer 1.2',
    'user turn 2',
    'user turn 2',
    'answer 2.1',
  ]);
  expect(problems).toEqual([]);
});

test('a message that came while calls were open enters after their results, in the same turn', () => {
  const { log } = assemble([user('a'), answer('x', 'y'), result('y'), user('wait'), result('x'), answer()]);
  expect(log.map(brief)).toEqual([
    'user turn 1',
    'answer 1.1',
    'result 1.1.1',
    'result 1.1.0',
    'user turn 1',
    'answer 1.2',
  ]);
});

test('a call without a result gets one that says so, and a result without a call becomes a message; both are named', () => {
  const { log, problems } = assemble([user('a'), answer('x'), answer(), result('ghost')]);
  expect(log.map(brief)).toEqual(['user turn 1', 'answer 1.1', 'result 1.1.0 missing', 'answer 1.2', 'user turn 2']);
  expect(log[2]).toMatchObject({ outcome: 'outcome_unknown', content: text(NOT_RECORDED) });
  expect(log[4]).toMatchObject({ content: earlierResult('a tool', text('ghost')) });
  expect(problems).toEqual(['call_without_result', 'result_without_call']);
});

test('a new session counts its turns anew and closes what the one before left open', () => {
  const { log } = assemble([user('a'), answer('x'), { kind: 'session', id: 'second' }, user('b'), answer()]);
  expect(log.map(brief)).toEqual([
    'user turn 1',
    'answer 1.1',
    'result 1.1.0 missing',
    'session',
    'user turn 1',
    'answer 1.1',
  ]);
});
