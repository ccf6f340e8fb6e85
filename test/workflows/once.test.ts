import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const harness = useTurnHarness();

beforeAll(async () => {
  const configuration = ['agents:', '  default:', '    allowCommands: true', '    tools: [run_command, read_file]'];
  await writeFile(join(harness.workspace, 'holdfast.yaml'), `${configuration.join('\n')}\n`);
});

/** Writes, leaves a daemon that no process group reaches, and kills its worker once that is named. */
const COMMAND = [
  'echo ran >> journal.txt; echo half done',
  `setsid sh -c 'trap "" TERM HUP; echo $$ > daemon.pid; sleep 300' </dev/null >/dev/null 2>&1 & until [ -e worker.pid ]; do sleep 0.1; done; kill -9 $(cat worker.pid); sleep 300`,
].join('; ');

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

test(
  'a command that kills its worker after it acted is not run again: the model is told what is known, and no process of it is left',
  { timeout: 120_000 },
  async () => {
    const doomed = await startWorkerProcess(harness);
    const task = `Call run_command with ${JSON.stringify({ command: COMMAND })}`;
    const sent = await harness.client.start(task);
    await waitUntil('its output is noted', async () => {
      const rows = await harness.database`select 1 from tool_calls where partial_output is not null`;
      return rows.length === 1;
    });
    const daemon = Number(await readFile(join(harness.workspace, 'daemon.pid'), 'utf8'));
    await writeFile(join(harness.workspace, 'worker.pid'), String(doomed.processId));
    expect(await doomed.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(isAlive(daemon)).toBe(true);
    const successor = await startWorkerProcess(harness);
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
    // Every worker looks for strays of its machine every few seconds.
    await waitUntil('its daemon is ended', async () => !isAlive(daemon));
    successor.kill('SIGTERM');
    expect(await successor.exited).toMatchObject({ code: 0 });
    expect(turn.outcome).toBe('completed');
    expect(await readFile(join(harness.workspace, 'journal.txt'), 'utf8')).toBe('ran\n');
    const { items: entries } = await harness.client.log.entries({ conversationId: sent.conversationId });
    const results = entries.filter((entry) => entry.kind === 'tool_result').map((entry) => textOf(entry.content));
    expect(results).toEqual([
      expect.stringMatching(
        /^Outcome unknown: this call began at .* Check before you repeat it\.\n\nUntil .* it had written 10 bytes:\nhalf done\n$/u,
      ),
    ]);
    await expectAllHolds(harness);
  },
);
