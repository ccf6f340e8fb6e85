import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CLAUDE_CODE } from '../../src/import/importers/claude-code.ts';
import { CODEX } from '../../src/import/importers/codex.ts';
import { recordedTime } from '../../src/import/importers/recorded-time.ts';
import { ImportCounter } from '../../src/import/read/import-report.ts';
import { entryTime } from '../../src/store/transfer/import-conversation.ts';

const NOON = '2025-03-04T12:00:00.000Z';
const second = (seconds: number): string => `2025-03-04T12:00:0${seconds}Z`;

test.each([
  ['ISO with zone', { timestamp: '2025-03-04T14:00:00+02:00' }, NOON],
  ['ISO without zone, as UTC', { timestamp: '2025-03-04 12:00:00' }, NOON],
  ['seconds', { created_at: Date.parse(NOON) / 1000 }, NOON],
  ['milliseconds', { timestamp: Date.parse(NOON) }, NOON],
  ['seconds as text', { created: String(Date.parse(NOON) / 1000) }, NOON],
  ['a day without a time of day', { timestamp: '2025-03-04' }, undefined],
  ['no day of the calendar', { timestamp: '2025-13-44T12:00:00Z' }, undefined],
  ['a clock that was never set', { timestamp: 0 }, undefined],
  ['words', { timestamp: 'yesterday' }, undefined],
  ['nothing', { type: 'user' }, undefined],
  ['more than a date holds', { timestamp: 1e300 }, undefined],
])('the time of a recorded line: %s', (_, line, expected) => {
  expect(recordedTime(line)?.toISOString()).toBe(expected);
});

test('an answer over several lines has the time of its first, its results their own', () => {
  const claude = CLAUDE_CODE.importer(new ImportCounter());
  const call = { type: 'tool_use', id: 't', name: 'Read', input: {} };
  const result = { type: 'tool_result', tool_use_id: 't', content: 'read' };
  const lines = [
    { type: 'assistant', timestamp: second(1), message: { id: 'm', content: [{ type: 'text', text: 'I read.' }] } },
    { type: 'assistant', timestamp: second(2), message: { id: 'm', content: [call] } },
    { type: 'user', timestamp: second(3), message: { content: [result] } },
  ];
  const records = [...lines.flatMap((line) => claude.read(line)), ...claude.end()];
  expect(records.map(({ kind, at }) => [kind, at?.getUTCSeconds()])).toEqual([
    ['assistant', 1],
    ['tool_result', 3],
  ]);
  const codex = CODEX.importer(new ImportCounter());
  const item = (seconds: number, payload: unknown) => ({ type: 'response_item', timestamp: second(seconds), payload });
  codex.read(item(1, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] }));
  codex.read(item(2, { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{}' }));
  const [answer] = codex.read(item(5, { type: 'function_call_output', call_id: 'c', output: 'x' }));
  expect(answer).toMatchObject({ kind: 'assistant', at: new Date(second(1)) });
});

test('times of imported entries never run backwards and never lie ahead of the import', () => {
  const importedAt = new Date(NOON);
  const offsets = fc.array(fc.option(fc.integer({ min: -1e12, max: 1e12 }), { nil: undefined }));
  fc.assert(
    fc.property(offsets, (recorded) => {
      let latest: Date | null = null;
      for (const offset of recorded) {
        const at = offset === undefined ? undefined : new Date(importedAt.getTime() + offset);
        const isKnown = at !== undefined && at <= importedAt;
        const time = entryTime(at, { latest, importedAt });
        expect(time <= importedAt && (latest === null || time >= latest)).toBe(true);
        if (isKnown && (latest === null || at >= latest)) expect(time).toEqual(at);
        if (isKnown) latest = time;
      }
    }),
  );
});
