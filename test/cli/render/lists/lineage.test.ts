import { expect, test } from 'vitest';
import { changeLines, lineageLines } from '../../../../src/cli/render/lists/lineage.ts';
import type { CompactionLineage } from '../../../../src/client/types.ts';

const entries = (...sequences: number[]) => sequences.map((sequence) => ({ sequence, entryId: `e${sequence}` }));

function lineage(number: number, read: number[], changes: Partial<CompactionLineage> = {}): CompactionLineage {
  const part = { number: 1, kind: 'turn_prefix', promptVersion: 'v2', entries: entries(...read) } as const;
  return { compactionId: `c${number}`, number, previousCompactionId: null, parts: [part], changes: [], ...changes };
}

test('a summary tells what its parts read, and what the summaries before it read', () => {
  const first = lineage(1, [3, 1, 2, 2, 7]);
  const second = lineage(2, [8], { previousCompactionId: 'c1' });
  const merge = { number: 2, kind: 'merge', promptVersion: null, entries: [] } as const;
  const third = lineage(3, [], { previousCompactionId: 'c2', parts: [merge] });
  expect(lineageLines(first, [first])).toEqual(['part 1 (turn prefix, v2) read entries 1–3, 7']);
  expect(lineageLines(third, [first, second, third])).toEqual([
    'part 2 (merge, no prompt) read the texts of the other parts',
    'generation 2 read entries 8',
    'generation 1 read entries 1–3, 7',
  ]);
  expect(lineageLines(lineage(4, [], { parts: [], previousCompactionId: 'c1' }), [first])).toEqual([]);
});

test('what a compaction shows shorter is told with its size before and after', () => {
  const change = { sequence: 4, entryId: 'e4', toolName: 'read_file', charactersBefore: 4_000, charactersAfter: 1_000 };
  const changes = [
    { ...change, method: 'clip' },
    { ...change, method: 'clear', toolName: null, charactersBefore: 0 },
    { ...change, method: 'strip', charactersAfter: 5_000 },
  ] as const;
  expect(changeLines(lineage(1, [], { changes }))).toEqual([
    'entry 4 read_file: 4,000 → 1,000 characters (−75 %), head and tail kept',
    'entry 4 message: 0 → 1,000 characters (−0 %), placeholder',
    'entry 4 read_file: 4,000 → 5,000 characters (−0 %), images taken out',
  ]);
});
