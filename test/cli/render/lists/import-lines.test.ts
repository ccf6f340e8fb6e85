import { expect, test } from 'vitest';
import { importLines } from '../../../../src/cli/render/lists/import-lines.ts';
import type { ImportReport } from '../../../../src/import/read/import-report.ts';

const REPORT: ImportReport = {
  file: 'a.jsonl',
  format: 'pi',
  bytes: 2_048,
  values: 9,
  sessions: 1,
  records: { session: 1, instructions: 0, user: 2, assistant: 1, tool_result: 3, compacted: 0 },
  leftOut: {},
  unknown: {},
  problems: [],
};

const HEAD = 'a.jsonl: pi, 2.0 KB, 1 session: 2 messages, 1 answer, 3 tool results';

test('an import tells what the file held', () => expect(importLines(REPORT)).toEqual([HEAD]));

test('an import tells what was left out, what it does not know, and where lines are damaged', () => {
  const problems = [
    { code: 'line_not_json', count: 7, lines: [3, 4] },
    { code: 'line_not_json', count: 2, lines: [3, 4] },
    { code: 'line_not_json', count: 1, lines: [] },
  ] as const;
  expect(importLines({ ...REPORT, leftOut: { ping: 1_200, pong: 1 }, unknown: { x: 1 }, problems })).toEqual([
    HEAD,
    '  left out: ping 1,200, pong 1',
    '  unknown: x 1',
    '  line_not_json: 7, line 3, 4 …',
    '  line_not_json: 2, line 3, 4',
    '  line_not_json: 1',
  ]);
});
