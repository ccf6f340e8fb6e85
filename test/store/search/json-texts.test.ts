import { describe, expect, it } from 'vitest';
import type { ContentPart } from '../../../src/context/log/content.ts';
import { writePieces } from '../../../src/store/log/content-pieces.ts';
import { openEntry } from '../../../src/store/log/open-entry.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { storeAnswer } from '../../../src/store/attempts/model-calls.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import {
  answer,
  answerWith,
  conversationOf,
  finishToolCall,
  register,
  startTurn,
  text,
  toolCall,
  useTestStore,
} from '../support/store-builders.ts';

const { sql } = useTestStore();

const FILE = 'import os\n\nclass Client:\n\ttimeout = 30\n\tretry_limit = 4\n\tgreeting = "say hi"\n';

async function callWith(written: string, ...before: ContentPart[]): Promise<TurnReference> {
  const turn = await startTurn(sql, 'Set the timeout and greet.');
  const content = [...before, toolCall(0, 'write_file', written)];
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), content));
  return turn;
}

async function found({ conversationId }: TurnReference, query: string) {
  return searchMemory(sql, { conversationId, query });
}

describe('arguments of a call', () => {
  it('are found by words behind line ends and tabs, whoever else has said them, and read as lines', async () => {
    const turn = await callWith(JSON.stringify({ path: 'client.py', content: FILE }));
    const hits = await found(turn, 'timeout');
    expect(hits.map(({ kind }) => kind).toSorted()).toEqual(['assistant', 'user']);
    expect(hits.find(({ kind }) => kind === 'assistant')).toMatchObject({
      matched: ['timeout'],
      text: expect.stringContaining('\n\ttimeout = 30\n'),
    });
    expect(await found(turn, 'retry_limit')).toMatchObject([{ match: 'phrase' }]);
  });

  it('are found by a row of words that goes over a line end or holds quotation marks', async () => {
    const turn = await callWith(JSON.stringify({ path: 'client.py', content: FILE }));
    for (const query of ['"class Client: timeout = 30"', '"timeout = 30 retry_limit = 4"', 'greeting = "say hi"']) {
      expect((await found(turn, query))[0], query).toMatchObject({ kind: 'assistant', match: 'phrase' });
    }
  });

  it('are found by words that are written as code points', async () => {
    const escaped = String.raw`{"content":"\u4e2d\u6587\u6d4b\u8bd5 sagt viele gr\u00fc\u00dfe"}`;
    const turn = await callWith(escaped);
    for (const query of ['中文测试', 'grüße', '测试', '"viele Grüße"']) {
      expect((await found(turn, query))[0], query).toMatchObject({ kind: 'assistant', matched: expect.anything() });
    }
  });

  it('open at the place of a passage, which counts the escapes', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index}\tof gr\u{fc}n`);
    lines[250] = 'the numbat sleeps here';
    const written = JSON.stringify({ content: lines.join('\n') }).replaceAll('ü', String.raw`\u00fc`);
    const turn = await callWith(written, { type: 'text', text: 'I write the lines.' });
    const [hit] = await found(turn, 'numbat');
    if (hit === undefined) throw new Error('not found');
    expect(hit.text.startsWith('line ')).toBe(true);
    const { conversationId } = turn;
    const opened = await openEntry(sql, { conversationId, id: hit.entryId, offset: hit.offset, limit: 20 });
    const [first = ''] = hit.text.split('\t');
    expect(opened?.text.startsWith(String.raw`${first}\t`)).toBe(true);
  });
});

describe('what is JSON and came as a text', () => {
  const RESULT = JSON.stringify({ stdout: 'start\ntimeout = 30\nretries = 4\nendpoint\tbackoff\n', code: 0 });

  it.each(['timeout', 'retries', 'endpoint', 'backoff'])('is found by %s', async (word) => {
    const turn = await conversationOf(sql, RESULT, `What is ${word} now?`);
    expect((await found(turn, word)).map(({ text: said }) => said.startsWith('{'))).toContain(true);
  });

  it('is found in an original whose chunks are cut within escapes', async () => {
    const turn = await startTurn(sql, 'Where is the numbat?');
    await answer(sql, turn, 1, { calls: 1 });
    const whole = Buffer.from(
      JSON.stringify({ stdout: `${'the reeds\n\tstand still '.repeat(9_000)}\nnumbat in Gr\u{fc}n` }).replaceAll(
        'ü',
        String.raw`\u00fc`,
      ),
    );
    const original = await writePieces(
      sql,
      turn.conversationId,
      [0, 1, 2].map((piece) => whole.subarray(piece * 65_537, piece === 2 ? whole.length : (piece + 1) * 65_537)),
    );
    await finishToolCall(sql, turn, 1, 0, { ...text('{"stdout": …'), original });
    const hits = await found(turn, 'numbat');
    expect(hits.map(({ kind }) => kind)).toContain('tool_result');
    const [hit] = await found(turn, 'grün');
    const { conversationId } = turn;
    const opened = await openEntry(sql, {
      conversationId,
      id: hit?.entryId ?? '',
      offset: hit?.offset ?? 0,
      limit: 1_500,
    });
    expect(opened?.text.endsWith(String.raw`\nnumbat in Gr\u00fcn"}`)).toBe(true);
  });
});

it('paths of Windows and regular expressions in other texts are found as they are', async () => {
  const said = String.raw`Look into C:\new\table, there \d+\n is the pattern.`;
  const turn = await conversationOf(sql, said, 'Nothing else.');
  for (const query of ['table', 'new', String.raw`C:\new\table`, String.raw`\d+\n`]) {
    expect((await found(turn, query))[0], query).toMatchObject({ text: said });
  }
});

it('opens an entry with the images that it holds', async () => {
  const image = { type: 'image', mediaType: 'image/png', data: 'aGk=', width: 2, height: 1 } as const;
  const turn = await startTurn(sql, 'hello');
  const content = [{ type: 'text', text: 'Look.' }, image] as const;
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), content));
  const [hit] = await found(turn, 'look');
  const id = hit?.entryId ?? '';
  const opened = await openEntry(sql, { conversationId: turn.conversationId, id, offset: 0, limit: 100 });
  expect(opened).toMatchObject({ text: 'Look.\n[image 2 × 1]', media: [image] });
});
