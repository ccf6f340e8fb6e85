import { expect, test } from 'vitest';
import { verificationLines } from '../../../../src/cli/render/lists/verification-lines.ts';
import type { WholeVerification } from '../../../../src/cli/render/lists/verification-lines.ts';
import { MARKED_STYLE as style } from '../marked-style.ts';

const HOLDS = { name: 'R1', holds: 'every call has a result', breaches: [] };
const BROKEN = { ...HOLDS, name: 'R2', breaches: [{ conversationId: 'c1', subject: 'turn 1', found: 'two results' }] };
const RUN = { conversationId: 'c1', turnId: 't1', runId: 'r1' };

function lines(changes: Partial<WholeVerification>): string[] {
  const whole = { conversations: 1, turns: 2, entries: 1, invariants: [HOLDS], repeatedCalls: [] };
  return verificationLines({ ...whole, histories: null, journal: null, ...changes }, { columns: null, style });
}

test('what holds, what was looked at, and that Temporal was not read', () => {
  expect(lines({})).toEqual([
    '+✓+ R1: every call has a result',
    '',
    'Temporal was not read.',
    '+1 conversation, 2 turns, 1 entry: all 1 invariants hold.+',
  ]);
});

test('what does not hold is listed below its invariant', () => {
  expect(lines({ invariants: [HOLDS, BROKEN] })).toEqual([
    '+✓+ R1: every call has a result',
    '!✗! R2: every call has a result',
    '!    c1  turn 1: two results!',
    '',
    'Temporal was not read.',
    '!1 conversation, 2 turns, 1 entry: 1 invariant does not hold.!',
  ]);
});

test('histories say how many turns they are of, and which runs Temporal no longer has', () => {
  const remarks = (histories: WholeVerification['histories']) => lines({ histories }).slice(2, -1);
  expect(remarks({ turns: 2, turnsRead: 2, histories: 3, gone: [] })).toEqual([
    '3 histories of 2 turns read from Temporal.',
  ]);
  expect(remarks({ turns: 3, turnsRead: 2, histories: 1, gone: Array.from({ length: 12 }, () => RUN) })).toEqual([
    '1 history of 2 turns read from Temporal; 1 older turn not read (`--turns all`).',
    'Temporal no longer has 12 runs; nothing is known of their payloads:',
    ...Array.from({ length: 10 }, () => '    c1  turn t1: run r1'),
    '    and 2 more',
  ]);
});

test('calls that were made again are named as the commands take them', () => {
  const call = { conversationId: 'c1', turnId: 't1', turn: 2, callNumber: 3, summary: null, tries: 2 };
  const summary = { compactionId: 'k1', part: 4 };
  const [head, ...calls] = lines({ repeatedCalls: [call, { ...call, summary, tries: 1 }] }).slice(2, -2);
  expect(head).toContain('2 model calls tried again after the loss of a worker');
  expect(calls).toEqual(['    c1  turn 2: call 2.3, 2 tries', '    c1  turn 2: part 4 of compaction k1, 1 try']);
});

test('the journal tells its effects, and what is not known of them', () => {
  const remarks = (journal: WholeVerification['journal']) => lines({ journal }).slice(3, -1);
  expect(remarks({ effects: 1, foreign: [], unknownOutcomes: [], torn: false })).toEqual([
    '1 call with an effect in the journal.',
  ]);
  const unknown = { conversationId: 'c1', key: 't1:1:0', tool: 'pay', effects: 1 };
  const unknownOutcomes = [unknown, { ...unknown, effects: null }];
  expect(remarks({ effects: 2, foreign: ['x'], unknownOutcomes, torn: true })).toEqual([
    '2 calls with an effect in the journal, whose last line is cut off.',
    '1 effect of turns that this database does not have.',
    '2 calls with an unknown outcome:',
    '    c1  pay t1:1:0: acted 1 time',
    '    c1  pay t1:1:0: not a tool of the journal',
  ]);
});
