import * as fc from 'fast-check';
import { readdir } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createOutputSink, KEPT_BYTES, type CollectedOutput } from '../../src/tools/process/output-sink.ts';
import { watchPartialOutput } from '../../src/tools/process/partial-output.ts';
import type { PartialOutput } from '../../src/tools/process/partial-output.ts';
import { temporaryDirectory } from './support/tool-context.ts';

async function bytesOf(output: CollectedOutput): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of output.pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}

function sink(options: Partial<Parameters<typeof createOutputSink>[0]> = {}) {
  const created = createOutputSink({ previewCharacters: 1_000, ...options });
  onTestFinished(() => created.dispose());
  return created;
}

test('keeps bytes as they are, in memory and on disk, whatever they are', async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 200_000, size: 'max' }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(pieces, async (written) => {
      const collecting = createOutputSink({ previewCharacters: 100 });
      try {
        for (const piece of written) await collecting.write(piece);
        const output = await collecting.finish();
        const expected = Buffer.concat(written);
        expect((await bytesOf(output)).equals(expected)).toBe(true);
        expect(output.bytes).toBe(expected.length);
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(expected);
        expect(output.totalCharacters).toBe(text.length);
        expect(output.head).toBe(text.slice(0, 100));
        expect(output.tail).toBe(text.slice(-100));
      } finally {
        await collecting.dispose();
      }
    }),
    { numRuns: 40 },
  );
});

test('text survives however it is cut into writes, a lone surrogate as the three bytes of WTF-8', async () => {
  const cuts = fc.tuple(fc.string({ unit: 'binary', maxLength: 50 }), fc.nat(50));
  await fc.assert(
    fc.asyncProperty(cuts, async ([text, cut]) => {
      const collecting = createOutputSink({ previewCharacters: 100 });
      await collecting.write(text.slice(0, cut));
      await collecting.write(text.slice(cut));
      const output = await collecting.finish();
      expect((await bytesOf(output)).equals(Buffer.from(text))).toBe(true);
    }),
  );
  const collecting = sink();
  await collecting.write('a\ud83d');
  await collecting.write(Buffer.from('b'));
  await collecting.write('\ude00');
  expect([...(await bytesOf(await collecting.finish()))]).toEqual([0x61, 0xed, 0xa0, 0xbd, 0x62, 0xed, 0xb8, 0x80]);
});

test('writes that nobody awaits land in order', async () => {
  const collecting = sink();
  const numbers = Array.from({ length: 5_000 }, (_, index) => `${index}\n`);
  await Promise.all(numbers.map((line) => collecting.write(line)));
  expect((await bytesOf(await collecting.finish())).toString()).toBe(numbers.join(''));
});

test('100 MB stay flat in memory; 64 MB are kept, the rest is counted, and the end is still known', async () => {
  const collecting = sink();
  const chunk = Buffer.alloc(1_024 * 1_024, 'x');
  await collecting.write(chunk);
  const before = process.memoryUsage().rss;
  let highest = 0;
  for (let megabyte = 1; megabyte < 100; megabyte += 1) {
    await collecting.write(chunk);
    highest = Math.max(highest, process.memoryUsage().rss);
  }
  await collecting.write('the end');
  const output = await collecting.finish();
  expect(highest - before).toBeLessThan(40 * 1_024 * 1_024);
  expect(output.bytes).toBe(100 * 1_024 * 1_024 + 7);
  expect(output.missingBytes).toBe(36 * 1_024 * 1_024 + 7);
  expect(output.tail.endsWith('xthe end')).toBe(true);
  let kept = 0;
  for await (const piece of output.pieces()) {
    expect(piece.length).toBeLessThanOrEqual(1_024 * 1_024);
    kept += piece.length;
  }
  expect(kept).toBe(KEPT_BYTES);
});

test('heartbeats go on while a text of 20 MB is taken in', async () => {
  const sink = createOutputSink({ previewCharacters: 10, keptBytes: 1_000 });
  let beats = 0;
  let isOver = false;
  const beat = (): void => {
    beats += 1;
    if (!isOver) setImmediate(beat);
  };
  const written = sink.write('x'.repeat(20_000_000));
  setImmediate(beat);
  await written;
  isOver = true;
  expect(beats).toBeGreaterThanOrEqual(19);
  await sink.dispose();
});

test('the temporary file has no name, so nothing is left whatever ends the process', async () => {
  const directory = await temporaryDirectory();
  const collecting = sink({ directory });
  await collecting.write(Buffer.alloc(1_024 * 1_024));
  expect(await readdir(directory)).toEqual([]);
  const output = await collecting.finish();
  await collecting.dispose();
  // Closed: the disk has its room again.
  await expect(bytesOf(output)).rejects.toMatchObject({ code: 'EBADF' });
});

test('of a long output the beginning, the end and how much lies between them are known while it is written', async () => {
  const collecting = sink({ previewCharacters: 10_000 });
  await collecting.write(Buffer.from(`${'a'.repeat(5_000)}${'z'.repeat(4_000)}`));
  const kept: PartialOutput[] = [];
  const watch = watchPartialOutput(collecting, async (partial) => void kept.push(partial));
  await watch.flush();
  watch.end();
  const text = `${'a'.repeat(2_000)}\n[… 5000 characters …]\n${'z'.repeat(2_000)}`;
  expect(kept).toEqual([{ text, bytes: 9_000 }]);
});

test('a provider key is masked, also where two writes split it and where it was written to disk', async () => {
  const secret = 'sk-planted-key-0123456789';
  const collecting = sink({ secrets: [secret, 'short'] });
  await collecting.write(`short before ${secret.slice(0, 9)}`);
  await collecting.write(`${secret.slice(9)} after `);
  await collecting.write(Buffer.from(`${'x'.repeat(400_000)}${secret}`));
  const output = await collecting.finish();
  const text = (await bytesOf(output)).toString();
  expect(text.startsWith('short before [masked key] after ')).toBe(true);
  expect(text.endsWith('x[masked key]')).toBe(true);
  expect(output.head + output.tail + text).not.toContain(secret);
});

test('a write after the end is refused, and a failed disk is reported once, by finish', async () => {
  const collecting = sink();
  await collecting.finish();
  await expect(collecting.write('late')).rejects.toMatchObject({ code: 'call_over' });
  const failing = sink({ directory: '/dev/null/not-a-directory' });
  void failing.write(Buffer.alloc(1_024 * 1_024));
  await expect(failing.finish()).rejects.toMatchObject({ code: 'ENOTDIR' });
});
