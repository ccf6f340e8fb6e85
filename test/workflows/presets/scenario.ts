import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { textOf } from '../../../src/context/log/content.ts';
import type { TurnHarness } from '../../support/turn-harness.ts';

/** The window of the documents. */
export const MODEL = 'simulator/sim-200k';

/** Writes files of about eight tokens a line; a model sees as much of one as the limit on results allows. */
export async function writeLogs(harness: TurnHarness, files: number, lineCount = 1_600, name = 'log'): Promise<void> {
  for (let file = 1; file <= files; file += 1) {
    const lines = Array.from(
      { length: lineCount },
      (_, index) => `pump ${file * 10_000 + index} opens at ${index % 90} bar\n`,
    );
    await writeFile(join(harness.workspace, `${name}-${file}.txt`), lines.join(''));
  }
}

export function readTask(files: number): string {
  return `Call read_file with {"path": "log-$index.txt"} ${files} times, one by one`;
}

export interface SeenEvent {
  readonly number: number;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export async function eventsOf(harness: TurnHarness, conversationId: string): Promise<readonly SeenEvent[]> {
  return harness.database<SeenEvent[]>`
    select number, kind, data from events where conversation_id = ${conversationId} order by number`;
}

/** Parts of every compaction of a conversation, in order. */
export async function partsOf(
  harness: TurnHarness,
  conversationId: string,
): Promise<
  readonly { readonly compactionId: string; readonly kind: string; readonly wave: number; readonly state: string }[]
> {
  return harness.database`
    select p.compaction_id, p.kind, p.wave, p.state from compaction_parts p join compactions c on c.id = p.compaction_id
    where p.conversation_id = ${conversationId} order by c.created_at, p.number`;
}

/** No orphan, no gap, and every original still there. */
export async function expectWholeLog(harness: TurnHarness, conversationId: string, results: number): Promise<void> {
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
  const read = entries.filter((entry) => entry.kind === 'tool_result');
  expect(read).toHaveLength(results);
  for (const entry of read) expect(textOf(entry.content)).toContain(' opens at ');
}

/** In every kind of activity that a turn with a compaction runs a worker died. `lookForStop` writes nothing. */
export function expectDeathsInEach(deaths: readonly string[]): void {
  const activities = new Set(deaths.map((kind) => kind.split(':')[0]));
  expect([...activities]).toEqual(
    expect.arrayContaining([
      'beginTurn',
      'compactContext',
      'callModel',
      'runTool',
      'summarize',
      'commitCompaction',
      'endTurn',
    ]),
  );
}

export async function requestBodies(harness: TurnHarness, purpose: string): Promise<readonly string[]> {
  const { requests } = await harness.requests();
  return requests.filter((request) => request.purpose === purpose).map((request) => JSON.stringify(request.body ?? {}));
}
