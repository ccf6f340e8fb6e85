import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupEntries, mayBegin } from '../../src/context/log/groups.ts';
import { outlineTable } from '../../src/context/log/outline-table.ts';
import { LogBuilder, outline } from './builders.ts';

function shapes({ entries }: LogBuilder): string[] {
  const positions = entries.map((_, position) => position);
  const table = outlineTable(entries);
  return groupEntries(entries).map((group) => {
    const inside = group.entries.map((entry) => entry.callIndex ?? entry.kind).join(',');
    const first = positions.find((position) => entries[position] === group.entries[0]) ?? -1;
    return `${group.kind}(${inside})${mayBegin(table, positions, first) ? '' : ' no cut'}`;
  });
}

describe('groupEntries', () => {
  test('P1 an assistant entry and all its results are one group, results in call order', () => {
    const log = new LogBuilder();
    log.user('go');
    log.step(['a', 'b', 'c'], { order: [2, 0, 1] });
    log.answer('done');
    expect(shapes(log)).toEqual(['user(user)', 'assistant(assistant,0,1,2)', 'assistant(assistant)']);
  });

  test('P9 a compaction marker is never a cut point, notes and branch summaries are', () => {
    const log = new LogBuilder();
    log.user('go');
    log.add({ kind: 'compaction', content: [] });
    log.note('continuation', 'go on');
    log.add({ kind: 'branch_summary', content: [] });
    expect(shapes(log)).toEqual([
      'user(user)',
      'compaction(compaction) no cut',
      'note(note)',
      'branch_summary(branch_summary)',
    ]);
  });

  test('D8 no cut while an earlier group still waits for a result that arrives later', () => {
    const log = new LogBuilder();
    log.user('go');
    const [assistant] = log.step(['first', 'second'], { order: [0] });
    log.steer('and hurry');
    log.add({
      kind: 'tool_result',
      callNumber: assistant?.callNumber ?? 0,
      callIndex: 1,
      toolName: 'read_file',
      content: [],
    });
    log.answer('done');
    expect(shapes(log)).toEqual([
      'user(user)',
      'assistant(assistant,0,1)',
      'user(user) no cut',
      'assistant(assistant)',
    ]);
  });

  test('a result whose call is not there stands alone and is never a cut point, whatever the numbers of other turns', () => {
    const log = new LogBuilder();
    const result = (callNumber: number) => log.add({ kind: 'tool_result', callNumber, callIndex: 0, content: [] });
    result(7);
    log.user('one');
    log.add({ kind: 'assistant', callNumber: 1, content: [] });
    result(1);
    result(2);
    log.user('two');
    result(1);
    expect(shapes(log)).toEqual([
      'tool_result(0) no cut',
      'user(user)',
      'assistant(assistant,0)',
      'tool_result(0) no cut',
      'user(user)',
      'tool_result(0) no cut',
    ]);
  });

  test('R10 every entry is in exactly one group and no result is in another group than its call, in any order of arrival', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(100)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(steps, (drawn) => {
        const log = new LogBuilder();
        log.user('go');
        for (const [calls, rotation] of drawn) {
          const order = Array.from({ length: calls }, (_, index) => (index + rotation) % calls);
          log.step(order.map(String), { order });
          if (rotation % 5 === 0) log.steer('more');
        }
        const groups = groupEntries(log.entries.map(outline));
        const ids = groups.flatMap((group) => group.entries.map((entry) => entry.id));
        expect(ids.toSorted()).toEqual(log.entries.map((entry) => entry.id).toSorted());
        for (const group of groups.filter(({ kind }) => kind === 'assistant')) {
          const [assistant, ...results] = group.entries;
          expect(results.map((result) => result.callIndex)).toEqual(results.map((_, index) => index));
          expect(results).toHaveLength((assistant?.measurements.frames ?? 0) - 1);
          expect(new Set(results.map((result) => result.callNumber))).toEqual(new Set([assistant?.callNumber]));
        }
        // No cut falls between an answer and the last of its results.
        const table = outlineTable(log.entries);
        const positions = log.entries.map((_, position) => position);
        for (const { kind, entries } of groups) {
          const [first = 0, ...others] = entries.map(({ sequence }) => sequence - 1);
          const within = positions.slice(first + 1, Math.max(first, ...others) + 1);
          expect(within.filter((place) => mayBegin(table, positions, place))).toEqual([]);
          if (kind === 'assistant') expect(mayBegin(table, positions, first)).toBe(true);
        }
      }),
    );
  });
});
