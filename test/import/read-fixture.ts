import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSessionFile } from '../../src/import/read/session-file.ts';
import type { ImportReport } from '../../src/import/read/import-report.ts';
import type { SessionRecord } from '../../src/import/session-record.ts';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}

/** What was said, without the times; those are in test/import/recorded-time.test.ts. */
export async function readRecords(file: string): Promise<{ records: SessionRecord[]; report: ImportReport }> {
  const read = await readSessionFile(file);
  const records: SessionRecord[] = [];
  for (const { at: _, ...record } of read.records) records.push(record);
  return { records, report: read.report() };
}

/** The same of a file with this content. */
export async function readContent(content: string | Uint8Array): ReturnType<typeof readRecords> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-session-'));
  try {
    const file = join(directory, 'session.jsonl');
    await writeFile(file, content);
    return await readRecords(file);
  } finally {
    await rm(directory, { recursive: true });
  }
}

export function lines(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** Each record in one word or text: `user: Hello.`, `call t1`. */
export function brief(records: readonly SessionRecord[]): string[] {
  return records.flatMap((record) => {
    switch (record.kind) {
      case 'session':
        return [];
      case 'instructions':
        return [`instructions: ${record.text}`];
      case 'compacted':
        return ['compacted'];
      case 'tool_result':
        return [`result ${record.callId}`];
      case 'user':
      case 'assistant':
        return record.content.map((part) =>
          part.type === 'text' || part.type === 'thinking'
            ? `${record.kind}: ${part.text}`
            : part.type === 'tool_call'
              ? `call ${part.id}`
              : part.type,
        );
    }
  });
}
