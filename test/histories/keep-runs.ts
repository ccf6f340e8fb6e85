import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { HISTORIES, MANIFEST, keptHistories, manifest } from './kept-histories.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** Leaves out what names the machine of the recording; replay does not read it. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  return key === 'identity' ? 'recorder' : value;
}

/** Writes a history unless there is one at its path: turns that began with that one replay by it. */
export function keepHistory(path: string, history: History): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(JSON.parse(historyToJSON(history), withoutMachine))}\n`);
}

function keptPath(name: string, run: number): string {
  return join(HISTORIES, version, `${name}-${run}.json`);
}

/** Keeps the histories of a chain of runs under this version, once it is closed; a name that is kept already is left alone. */
export async function keepRuns(name: string, workflowId: string, temporal: Client): Promise<void> {
  await temporal.workflow.getHandle(workflowId).result();
  // Code of today may make other runs of the same work, and half of two chains is none.
  if (existsSync(keptPath(name, 1))) return;
  const runs: History[] = [];
  for (let runId: string | undefined; runId !== ''; ) {
    const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.unshift(history);
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  for (const [index, history] of runs.entries()) {
    keepHistory(keptPath(name, index + 1), history);
  }
  const known = manifest();
  const hashes = Object.fromEntries(keptHistories().map((kept) => [kept.path, kept.sha256]));
  for (const [path, hash] of Object.entries(known))
    if (hashes[path] !== hash) throw new Error(`the kept history ${path} was changed: restore it, or record under another name`);
  writeFileSync(MANIFEST, `${JSON.stringify(hashes, null, 2)}\n`);
}
