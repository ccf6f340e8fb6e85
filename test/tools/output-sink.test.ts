import { expect, onTestFinished, test, vi } from 'vitest';
import { createOutputSink } from '../../src/tools/process/output-sink.ts';
import type { CollectedOutput } from '../../src/tools/process/output-sink.ts';
import { watchPartialOutput } from '../../src/tools/process/partial-output.ts';
import type { PartialOutput } from '../../src/tools/process/partial-output.ts';

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
  vi.stubEnv('TMPDIR', '/dev/null/not-a-directory');
  onTestFinished(() => void vi.unstubAllEnvs());
  const failing = sink();
  void failing.write(Buffer.alloc(1_024 * 1_024));
  await expect(failing.finish()).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test('a character that two writes split is whole, and a half without its other half is replaced', async () => {
  const collecting = sink();
  for (const part of ['a\ud83d', '\ude00b\ud83d', 'c', Buffer.from('d'), '\ud83d']) await collecting.write(part);
  const output = await collecting.finish();
  expect((await bytesOf(output)).toString()).toBe('a😀b\ufffdcd\ufffd');
});
