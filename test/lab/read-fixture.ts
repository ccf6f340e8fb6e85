import { fileURLToPath } from 'node:url';
import { openSessionFile } from '../../src/lab/read/session-file.ts';
import type { ImportReport } from '../../src/lab/read/import-report.ts';
import type { SessionRecord } from '../../src/lab/session-record.ts';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}

/** What was said, without the times; those are in test/lab/recorded-time.test.ts. */
export async function readRecords(file: string): Promise<{ records: SessionRecord[]; report: ImportReport }> {
  const opened = await openSessionFile(file);
  const records: SessionRecord[] = [];
  for await (const { at: _, ...record } of opened.records()) records.push(record);
  return { records, report: opened.report() };
}
