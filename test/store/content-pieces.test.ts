import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ContentPart } from '../../src/context/log/content.ts';
import { measureContent } from '../../src/context/log/measure.ts';
import { LARGEST_ORIGINAL_BYTES, PIECE_BYTES, readPieces, writePieces } from '../../src/store/log/content-pieces.ts';
import { getEntry } from '../../src/store/log/entries.ts';
import { openEntry } from '../../src/store/log/open-entry.ts';
import type { OriginalReference } from '../../src/store/log/entries.ts';
import { newId } from '../../src/store/database/ids.ts';
import { answer, finishToolCall, useTestStore, startTurn, text } from './support/store-builders.ts';

const { sql } = useTestStore();

async function read(contentId: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readPieces(sql, contentId)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A tool result with an original in pieces; the id of its entry. */
async function storeOriginal(
  bytes: Iterable<Uint8Array>,
): Promise<{ entryId: string; conversationId: string; original: OriginalReference }> {
  const turn = await startTurn(sql);
  await answer(sql, turn, 1, { calls: 1 });
  const original = await writePieces(sql, turn.conversationId, bytes);
  const entryId = newId();
  await finishToolCall(sql, turn, 1, 0, { entryId, ...text('clipped'), original });
  return { entryId, conversationId: turn.conversationId, original };
}

describe('contents', () => {
  it.each<[string, string]>([
    ['NUL', 'a\0b'],
    ['lone surrogates', '\uD800 and \uDFFF'],
    ['a pair', '😀'],
    ['what looks like an escape', String.raw`\u0000 \ud800 \\u0000`],
    ['quotes and control characters', '"\'\u0001\u001F\u007F\u2028'],
    ['nothing', ''],
  ])('come back with %s exactly as they were said', async (_, said) => {
    const turn = await startTurn(sql, said);
    const content: ContentPart[] = [
      { type: 'text', text: said },
      { type: 'thinking', text: said, provider: 'sim', signature: said },
      { type: 'tool_call', index: 0, id: 'x', name: 'y', arguments: said },
    ];
    await answer(sql, turn, 1, { said });
    const [user] = await sql<
      { id: string }[]
    >`select id from entries where conversation_id = ${turn.conversationId} order by sequence limit 1`;
    expect((await getEntry(sql, user?.id ?? ''))?.content).toEqual([{ type: 'text', text: said }]);
    const stored = await finishToolCallOf(content);
    expect((await getEntry(sql, stored))?.content).toEqual(content);
  });

  async function finishToolCallOf(content: ContentPart[]): Promise<string> {
    const turn = await startTurn(sql);
    await answer(sql, turn, 1, { calls: 1 });
    const entryId = newId();
    await finishToolCall(sql, turn, 1, 0, { entryId, content, measurements: measureContent(content) });
    return entryId;
  }
});

describe('writePieces', () => {
  it.each<[string, Buffer]>([
    ['invalid UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc3, 0x28, 0xed, 0xa0, 0x80])],
    ['nothing', Buffer.alloc(0)],
    ['exactly one piece', randomBytes(PIECE_BYTES)],
    ['three pieces and a bit', randomBytes(PIECE_BYTES * 3 + 17)],
  ])('gives back %s byte for byte', async (_, bytes) => {
    const { entryId, original } = await storeOriginal([bytes]);
    expect(original).toMatchObject({ bytes: bytes.length, missingBytes: 0 });
    expect((await read(original.contentId)).equals(bytes)).toBe(true);
    expect((await getEntry(sql, entryId))?.original).toEqual(original);
  });

  it('cuts chunks of any size anew', async () => {
    const bytes = randomBytes(PIECE_BYTES * 2 + 100);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 7_001) }, (_, index) =>
      bytes.subarray(index * 7_001, (index + 1) * 7_001),
    );
    const { original } = await storeOriginal(chunks);
    expect((await read(original.contentId)).equals(bytes)).toBe(true);
  });

  it('stores 64 MB of more and says what is missing', async () => {
    const { original } = await storeOriginal(
      (function* () {
        for (let megabyte = 0; megabyte < 66; megabyte += 1) yield Buffer.alloc(1_048_576, megabyte);
      })(),
    );
    expect(original).toMatchObject({ bytes: LARGEST_ORIGINAL_BYTES, missingBytes: 2 * 1_048_576 });
    const [row] =
      await sql`select sum(length(data))::int as bytes, max(length(data)) as largest from content_pieces where content_id = ${original.contentId}`;
    expect(row).toEqual({ bytes: LARGEST_ORIGINAL_BYTES, largest: PIECE_BYTES });
  });

  it('refuses to read what was not written to its end', async () => {
    const turn = await startTurn(sql);
    const failing = (function* () {
      yield Buffer.alloc(PIECE_BYTES);
      throw new Error('disk gone');
    })();
    await expect(writePieces(sql, turn.conversationId, failing)).rejects.toThrow('disk gone');
    const [content] = await sql<
      { id: string }[]
    >`select id from contents where conversation_id = ${turn.conversationId}`;
    await expect(read(content?.id ?? '')).rejects.toMatchObject({ code: 'content_incomplete' });
  });
});

describe('openEntry', () => {
  it('opens the original at any character, also across pieces and inside what is not UTF-8', async () => {
    const whole = `start ${'ä😀'.repeat(PIECE_BYTES / 4)} end`;
    const { entryId: id, conversationId } = await storeOriginal([Buffer.from(whole)]);
    for (const offset of [0, 3, PIECE_BYTES / 2, whole.length - 4, whole.length + 5]) {
      const opened = await openEntry(sql, { conversationId, id, offset, limit: 100 });
      expect(opened).toEqual({
        kind: 'tool_result',
        totalCharacters: whole.length,
        text: whole.slice(offset, offset + 100),
        media: [],
      });
    }
    const broken = await storeOriginal([Buffer.from([0x61, 0xff, 0x62])]);
    expect(await openEntry(sql, { ...broken, id: broken.entryId, offset: 0, limit: 9 })).toMatchObject({
      text: 'a\uFFFDb',
      totalCharacters: 3,
    });
  });

  it('opens only what the conversation has', async () => {
    const { entryId: id } = await storeOriginal([]);
    const other = await startTurn(sql);
    expect(await openEntry(sql, { conversationId: other.conversationId, id, offset: 0, limit: 9 })).toBeNull();
    expect(await openEntry(sql, { conversationId: other.conversationId, id: 'x', offset: 0, limit: 9 })).toBeNull();
  });
});
