/** acpx, a client of the Agent Client Protocol that others wrote: each call is a process, and a process of its own keeps the agent. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { onTestFinished } from 'vitest';
import { EXECUTABLE } from '../cli/run-cli.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

const ACPX = fileURLToPath(new URL('../../node_modules/acpx/dist/cli.js', import.meta.url));
const run = promisify(execFile);

export interface Acpx {
  /** Approves what it is asked. @returns what the agent told until the prompt ended */
  readonly prompt: (text: string) => Promise<SessionUpdate[]>;
  readonly cancel: () => Promise<unknown>;
  /** Ends the agent, the process that keeps it, and the prompts that wait. */
  readonly kill: () => Promise<void>;
}

/** Begins a session. */
export async function openAcpx(harness: TurnHarness): Promise<Acpx> {
  const { PATH = '', HOLDFAST_RUN = '' } = process.env;
  // It keeps its sessions there, and the socket in it must have a short path.
  const HOME = await mkdtemp(join(tmpdir(), 'acpx-'));
  const options = { cwd: harness.workspace, env: { PATH, HOME, HOLDFAST_RUN, ...harness.environment } };
  const command = [ACPX, '--agent', `${process.execPath} ${EXECUTABLE} acp`, '--approve-all', '--format', 'json'];
  const call = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, [...command, ...args], options)).stdout;
  const waiting = new Set<ReturnType<typeof spawn>>();
  await call('sessions', 'new');
  const kill = async (): Promise<void> => {
    const { pid: keeper } = JSON.parse(await call('status'));
    if (keeper === undefined) return;
    const { stdout: agents } = await run('pgrep', ['-P', String(keeper)]);
    for (const id of [...[...waiting].map(({ pid }) => pid), keeper, ...agents.trim().split('\n')]) {
      process.kill(Number(id), 'SIGKILL');
    }
  };
  onTestFinished(kill);
  return {
    async prompt(text) {
      const child = spawn(process.execPath, [...command, 'prompt', text], options);
      waiting.add(child);
      child.stderr.resume();
      const updates: SessionUpdate[] = [];
      // It stays for a second after the prompt has ended.
      for await (const line of createInterface({ input: child.stdout })) {
        const { params, result } = JSON.parse(line);
        if (params?.update !== undefined) updates.push(params.update);
        if (result?.stopReason !== undefined) break;
      }
      waiting.delete(child);
      return updates;
    },
    cancel: () => call('cancel'),
    kill,
  };
}

/** Texts of one kind, joined. */
export function said(updates: readonly SessionUpdate[], kind: SessionUpdate['sessionUpdate']): string {
  const of = (update: SessionUpdate): string =>
    update.sessionUpdate === kind && 'content' in update && update.content && 'text' in update.content
      ? update.content.text
      : '';
  return updates.map(of).join('');
}
