import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readLines } from '../../src/import/read/read-lines.ts';
import { readRecords } from './read-fixture.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-session-file-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

const said = (role: string, content: string) => JSON.stringify({ role, content });

describe('a file that cannot be used is refused with a code', () => {
  test.each([
    ['session_empty', 'empty.jsonl', ''],
    ['session_empty', 'blank.jsonl', '\n  \n'],
    ['session_empty', 'silent.jsonl', '{"type":"session","id":"1"}\n'],
    ['session_format_unknown', 'picture.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13])],
    ['session_format_unknown', 'notes.txt', 'Dear diary,\ntoday it rained.\n'],
    ['session_format_unknown', 'rows.jsonl', '{"a":1}\n{"a":2}\n'],
    ['session_format_unknown', 'cut.json', '[\n  {\n    "role": "user",\n    "content": "on'],
    ['session_format_unknown', 'settings.json', '{\n  "editor": {"tabs": 2}\n}\n'],
  ])('%s: %s', async (code, name, content) => {
    const path = await file(name, content);
    await expect(readRecords(path)).rejects.toMatchObject({ code, message: expect.stringContaining(path) });
  });

  test('session_unreadable: no such file, and a folder', async () => {
    await expect(readRecords(join(directory, 'nowhere.jsonl'))).rejects.toMatchObject({ code: 'session_unreadable' });
    await expect(readRecords(directory)).rejects.toMatchObject({ code: 'session_unreadable' });
  });
});

describe('a file with a broken place is read as far as it goes, and the place is named', () => {
  test('line_cut_off: the last line ends in the middle', async () => {
    const path = await file('cut.jsonl', `${said('user', 'one')}\n${said('assistant', 'two')}\n{"role":"user","cont`);
    const { records, report } = await readRecords(path);
    expect(records.map((record) => record.kind)).toEqual(['session', 'user', 'assistant']);
    expect(report.problems).toEqual([{ code: 'line_cut_off', count: 1, lines: [3] }]);
  });

  test('a last line without a line end is not cut off', async () => {
    const path = await file('unended.jsonl', `${said('user', 'one')}\n${said('assistant', 'two')}`);
    expect((await readRecords(path)).report).toMatchObject({ values: 2, problems: [] });
  });

  test('line_not_json: a line in between', async () => {
    const path = await file('noise.jsonl', `${said('user', 'one')}\nlog: started\n\n${said('assistant', 'two')}\n`);
    const { report } = await readRecords(path);
    expect(report).toMatchObject({ values: 2, problems: [{ code: 'line_not_json', count: 1, lines: [2] }] });
  });
});

describe('layouts of message lists', () => {
  const talk = [
    { role: 'user', content: 'Hello \ud83d\ude00 "\\u0000"' },
    { role: 'assistant', content: 'Hello.' },
  ];
  const kinds = ['session', 'user', 'assistant'];

  test.each([
    ['one array on one line', JSON.stringify(talk), kinds],
    ['one array over many lines', JSON.stringify(talk, null, 2), kinds],
    ['an object with messages', JSON.stringify({ id: 'a', messages: talk }, null, 2), kinds],
    ['the same on one line', JSON.stringify({ messages: talk, id: 'a' }), kinds],
    [
      'an array of conversations',
      JSON.stringify([
        { task_id: 1, traj: talk },
        { task_id: 2, traj: talk },
      ]),
      [...kinds, ...kinds],
    ],
    [
      'a message a line, with a byte order mark',
      `\ufeff${talk.map((message) => JSON.stringify(message)).join('\n')}`,
      kinds,
    ],
  ])('%s', async (name, content, expected) => {
    const { records, report } = await readRecords(await file(`${name}.json`, content));
    expect(records.map((record) => record.kind)).toEqual(expected);
    expect(records[1]).toEqual({ kind: 'user', content: [{ type: 'text', text: talk[0]?.content }] });
    expect(report.format).toBe('openai-messages');
  });
});

test('a line over the limit is passed over and named, the lines around it are read', async () => {
  const path = await file(
    'long.jsonl',
    `${said('user', 'one')}\n${said('user', 'y'.repeat(5_000))}\n${said('user', 'two')}\n`,
  );
  const lines = [];
  for await (const line of readLines(path, 1_000)) lines.push(line);
  expect(lines.map(({ kind, number }) => [kind, number])).toEqual([
    ['line', 1],
    ['too_long', 2],
    ['line', 3],
  ]);
});
