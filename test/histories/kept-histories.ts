import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** Histories of each version, in a folder of its name. */
const HISTORIES = fileURLToPath(new URL('./kept', import.meta.url));

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const OF_THIS_VERSION = join(HISTORIES, version);

export interface KeptHistory {
  /** `<version>/<name>-<run>.json` */
  readonly path: string;
  readonly text: string;
}

export function keptHistories(): KeptHistory[] {
  if (!existsSync(HISTORIES)) return [];
  return readdirSync(HISTORIES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(HISTORIES, path), 'utf8') }));
}

/** Before they are recorded anew. */
export function removeHistories(): void {
  rmSync(OF_THIS_VERSION, { recursive: true, force: true });
  mkdirSync(OF_THIS_VERSION, { recursive: true });
}

/** Replay reads neither of these, and they name the machine of the recording. */
function withoutMachine(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  if (key === 'identity') return 'recorder';
  return typeof value === 'string' ? value.replaceAll(hostname(), 'recorder') : value;
}

/** Waits for the end of a workflow and writes the histories of all its runs. */
export async function keepRuns(name: string, workflowId: string, temporal: Client): Promise<void> {
  // A run whose outcome is a failure is kept like any other.
  await temporal.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);
  const runs: string[] = [];
  for (let runId: string | undefined; runId !== '';) {
    const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.unshift(JSON.stringify(JSON.parse(historyToJSON(history), withoutMachine)));
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  for (const [index, text] of runs.entries()) {
    writeFileSync(join(OF_THIS_VERSION, `${name}-${index + 1}.json`), `${text}\n`);
  }
}
