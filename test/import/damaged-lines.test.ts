import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brief, fixture, lines, readContent } from './read-fixture.ts';

const uuid = (number: number): string => `7f3a9c10-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A transcript whose lines follow each other by their links. */
function linked(): string {
  const said = (number: number, type: string, content: unknown) => ({
    type,
    parentUuid: number === 1 ? null : uuid(number - 1),
    uuid: uuid(number),
    sessionId: 'pumps',
    isSidechain: false,
    timestamp: `2026-03-01T10:${String(number).padStart(2, '0')}:00.000Z`,
    message: { role: type, content, ...(type === 'assistant' && { id: `msg_${number}` }) },
  });
  return lines(
    said(1, 'user', 'Which pump leaks?'),
    said(2, 'assistant', [{ type: 'tool_use', id: 'toolu_aa', name: 'Read', input: { file: 'pumps.md' } }]),
    said(3, 'user', [{ type: 'tool_result', tool_use_id: 'toolu_aa', content: 'pump 3 {"leaks": true}' }]),
    said(4, 'assistant', [{ type: 'text', text: 'Pump 3 leaks.' }]),
    said(5, 'user', 'Order a gasket.'),
    said(6, 'assistant', [{ type: 'text', text: 'Ordered: "gasket \\ 40 mm".' }]),
  );
}

/** Whether all of a list stands in another, in order. */
function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let from = 0;
  return part.every((each) => {
    const found = whole.indexOf(each, from);
    from = found + 1;
    return found !== -1;
  });
}

type Damage = (line: Buffer, at: number, byte: number) => Buffer;

const DAMAGES: Readonly<Record<string, Damage>> = {
  'cut off': (line, at) => line.subarray(0, at),
  'its beginning lost': (line, at) => line.subarray(at),
  'overwritten with NUL': (line, at, byte) =>
    Buffer.concat([line.subarray(0, at), Buffer.alloc(byte + 1), line.subarray(at + byte + 1)]),
  'nothing but NUL': (line) => Buffer.alloc(line.length),
  'a byte flipped': (line, at, byte) =>
    Buffer.concat([line.subarray(0, at), Buffer.from([byte]), line.subarray(at + 1)]),
  'bytes that are no UTF-8': (line, at) =>
    Buffer.concat([line.subarray(0, at), Buffer.from([0xff, 0xc0, 0xed]), line.subarray(at)]),
  'a line end inside': (line, at, byte) =>
    Buffer.concat([line.subarray(0, at), Buffer.from(byte % 2 === 0 ? '\r' : '\n'), line.subarray(at)]),
};

describe('damage of one line changes nothing that other lines say', () => {
  test.each(['linked', 'codex.jsonl', 'pi.jsonl', 'copilot-cli.jsonl'])('%s', async (name) => {
    const all = (name === 'linked' ? linked() : await readFile(fixture(name), 'utf8')).trimEnd().split('\n');
    const others = all.map((_, index) => readContent(all.toSpliced(index, 1).join('\n')));
    const index = fc.nat(all.length - 1);
    const how = fc.constantFrom(...Object.keys(DAMAGES));
    const share = fc.double({ min: 0, max: 0.999, noNaN: true });
    await fc.assert(
      fc.asyncProperty(index, how, share, fc.nat(255), async (at, damage, where, byte) => {
        const line = Buffer.from(all[at] ?? '');
        const damaged = DAMAGES[damage]?.(line, Math.floor(where * line.length), byte) ?? line;
        const pieces = all.map((each, position) => (position === at ? damaged : Buffer.from(each)));
        const { records } = await readContent(Buffer.concat(pieces.flatMap((piece) => [piece, Buffer.from('\n')])));
        expect(isWithin(brief((await others[at])?.records ?? []), brief(records))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});

describe('a line that is whole beside damage is read', () => {
  const STUB = '{"type":"pr-link","sessionId":"pumps","prNu';

  test.each<[string, (line: string) => string, number]>([
    ['behind NUL', (line) => `\0\0\0\0${line}`, 0],
    ['before NUL', (line) => `${line}\0\0\0\0`, 0],
    ['behind a byte order mark', (line) => `\uFEFF${line}`, 0],
    ['behind a line that was cut off', (line) => `${STUB}${line}`, 1],
    ['behind a cut string with brackets in it', (line) => `{"type":"x","text":"a } ] \\" {${line}`, 1],
    ['behind a cut name', (line) => `{"type":"pr-link","url":${line}`, 1],
    ['behind a line that was cut off, and NUL', (line) => `${STUB}\0\0\0${line}`, 1],
    ['between two that were cut off', (line) => `${STUB}\0${line}\0${STUB}`, 1],
  ])('%s', async (_, change, problems) => {
    const all = linked().trimEnd().split('\n');
    const whole = await readContent(linked());
    for (const index of all.keys()) {
      const { records, report } = await readContent(
        all.map((line, at) => (at === index ? change(line) : line)).join('\n'),
      );
      expect(records, `line ${index + 1}`).toEqual(whole.records);
      expect(report.problems.reduce((sum, { count }) => sum + count, 0)).toBe(problems);
    }
  });

  test('messages within a conversation that was cut off are no records of their own', async () => {
    const said = (content: string) => ({ role: 'user', content });
    const cut = JSON.stringify({ messages: [said('one'), said('two')] }).slice(0, -2);
    const { records } = await readContent(`${JSON.stringify({ messages: [said('whole')] })}\n${cut}\n`);
    expect(brief(records)).toEqual(['user: whole']);
  });
});

describe('line ends', () => {
  test.each([
    ['CR LF', '\r\n'],
    ['mixed', '\n\r\n'],
  ])('%s', async (_, end) => {
    const { records, report } = await readContent(linked().replaceAll('\n', end));
    expect(records).toEqual((await readContent(linked())).records);
    expect(report.problems).toEqual([]);
  });

  test.each(['\n', '\r\n'])('%j counts one line', async (end) => {
    const { report } = await readContent(linked().trimEnd().split('\n').toSpliced(3, 0, 'noise').join(end));
    expect(report.problems).toEqual([{ code: 'line_not_json', count: 1, lines: [4] }]);
  });
});

test('bytes that are no UTF-8 leave the line readable, and are named', async () => {
  const content = Buffer.from(linked().replace('gasket \\\\', 'gasket ~'));
  content[content.indexOf('~')] = 0xff;
  const { records, report } = await readContent(content);
  expect(brief(records).at(-1)).toBe('assistant: Ordered: "gasket \uFFFD 40 mm".');
  expect(report.problems).toEqual([{ code: 'line_not_utf8', count: 1, lines: [6] }]);
});

test('a value nested too deeply to be written out is told as such, and the rest is read', async () => {
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const { records, report } = await readContent(linked().replace('{"file":"pumps.md"}', deep));
  const whole = await readContent(linked());
  expect(brief(records)).toEqual(brief(whole.records));
  expect(JSON.stringify(records)).toContain('nested too deep');
  expect(report.problems).toEqual([]);
});

test('the first line decides nothing: neither the format nor the layout', async () => {
  const whole = await readContent(linked());
  const odd = ['[2026-03-01] log started', '\0'.repeat(5_000), '{"type":"gemini","content":""}', '{"messages":[', '"'];
  for (const first of odd) {
    const { records, report } = await readContent(`${first}\n${linked()}`);
    expect(report.format, first).toBe('claude-code');
    expect(records, first).toEqual(whole.records);
  }
});

test('a document is read behind a byte order mark, and with NUL around it', async () => {
  const document = JSON.stringify(
    [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ],
    null,
    2,
  );
  const { records, report } = await readContent(`\uFEFF\0\0${document}\0\0`);
  expect(brief(records)).toEqual(['user: one', 'user: two']);
  expect(report.problems).toEqual([]);
});
