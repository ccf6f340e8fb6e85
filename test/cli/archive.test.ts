import { execFileSync } from 'node:child_process';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import type { CliResult } from './cli-result.ts';
import { runInProcess } from './run-in-process.ts';

/** A conversation of several steps. */
let conversationId: string;

const cli = async (...args: readonly string[]): Promise<CliResult> =>
  runInProcess(args, { environment: harness.environment, directory: harness.workspace });

const entryList = z.object({ entries: z.array(z.object({ entryId: z.string() })) });

const harness = useTurnHarness({ agent: { tools: ['read_file'] } });

beforeAll(async () => {
  await harness.startWorker();
  const calls = [1, 2, 3].map((part) => `Call read_file with {"path":"missing-${part}.txt"}`);
  ({ conversationId } = await harness.runTask([...calls, 'Say The survey is read.'].join('\n')));
});

test('lines end at line feeds only: what a text holds of other separators comes back', async () => {
  const odd = 'Say one\u2028two\u2029three\u0085four.';
  const sent = await harness.runTask(odd);
  const file = join(harness.workspace, 'odd.jsonl');
  const { stdout: written } = await cli('export', sent.conversationId);
  await writeFile(file, written);
  expect(written).toContain('\u2028');
  await cli('delete', sent.conversationId, '--yes');
  expect(await cli('import', file)).toMatchObject({ code: 0, stderr: '' });
  expect((await cli('export', sent.conversationId)).stdout).toBe(written);
  await writeFile(file, written.replaceAll('\n', '\r\n'));
  const again = await cli('import', file);
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error \(conversation_exists\): .*file is whole/u),
  });
  expect(again.stderr).not.toContain('holdfast delete');
  await writeFile(file, written.slice(0, -100));
  const cut = await cli('import', file);
  expect(cut).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error \(conversation_file_invalid\): line \d+ of the file: .*cut off/u),
  });
  await cli('delete', sent.conversationId, '--yes');
});

test('a line of 300 MB is refused by its number', async () => {
  const file = join(harness.workspace, 'long.jsonl');
  const [head = ''] = (await cli('export', conversationId)).stdout.split('\n');
  await writeFile(file, `${head}\n`);
  // The rest is a hole of the file, which takes no room.
  await truncate(file, 300 * 1_024 ** 2);
  expect(await cli('import', file)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error \(conversation_file_invalid\): line 2 of the file: it is longer than 128 MB/u,
    ),
  });
});

test('a conversation goes out, away and in again; what surrounds an entry is listed', async () => {
  const { stdout: before } = await cli('export', conversationId);
  const { entries } = entryList.parse(JSON.parse((await cli('show', conversationId, '--json')).stdout));
  const middle = entries[3];
  const around = entryList.parse(
    JSON.parse((await cli('entry', middle?.entryId ?? '', '--context', '2', '--json')).stdout),
  );
  expect(around.entries).toEqual(entries.slice(1, 6));
  const asked = await cli('delete', conversationId);
  expect(asked.stdout).toMatch(
    /^Would delete conversation .*--yes; only a file of `holdfast export` brings it back\n$/su,
  );
  const deleted = await cli('delete', conversationId, '--yes');
  expect(deleted).toMatchObject({ code: 0, stderr: '' });
  expect(deleted.stdout).toContain('Not reached: memories of it that were noted in other conversations');
  expect(deleted.stdout).toContain('Temporal may keep histories of its turns, without text. To remove them now:\n');
  expect(deleted.stdout).toContain(
    `temporal workflow delete --address ${harness.environment['TEMPORAL_ADDRESS'] ?? ''} --query 'WorkflowId = "agent-turn:${conversationId}"' --reason "conversation deleted" --yes`,
  );
  expect((await cli('show', conversationId)).code).toBe(2);
  const file = join(harness.workspace, 'conversation.jsonl');
  await writeFile(file, before);
  expect((await cli('import', file, '--agent', 'nobody')).code).not.toBe(0);
  expect(await cli('import', file, '--preset', 'pi', '--workspace', 'ours')).toMatchObject({
    stderr: '',
    stdout: expect.stringMatching(new RegExp(`conversation ${conversationId}: \\d+ turns?, \\d+ entries`, 'u')),
  });
  expect((await cli('export', conversationId)).stdout).toBe(before);
  const [row] = await harness.database`select preset, workspace from conversations where id = ${conversationId}`;
  expect(row).toEqual({ preset: 'pi', workspace: join(harness.workspace, 'ours') });
});

test('an import says whom the memories that came with it are shown to; what a delete prints is one word of the shell', async () => {
  const sent = await harness.runTask('Say hello.');
  const { conversationId: id } = sent;
  await insertMemory(harness.database, {
    id: newId(),
    scope: 'workspace',
    scopeName: '/work/of/another',
    kind: 'fact',
    text: 'It rains.',
    origin: 'user',
    conversationId: id,
  });
  const file = join(harness.workspace, 'memories.jsonl');
  await writeFile(file, (await cli('export', id)).stdout);
  await cli('delete', id, '--yes');
  expect((await cli('import', file, '--workspace', '/work/\u001b[31mred')).stdout).toContain(
    "\n  with 1 memory for the workspace /work/red, shown as data, not as the user's words\n",
  );
  const odd = `x'; echo "pwned" \\ $(echo pwned) '`;
  await harness.database`update turns set workflow_id = ${odd} where conversation_id = ${id}`;
  const { stdout } = await cli('delete', id, '--yes', '--json');
  const { commands } = z.object({ commands: z.array(z.string()) }).parse(JSON.parse(stdout));
  const command = commands.find((each) => each.includes('pwned')) ?? '';
  const said = execFileSync('sh', ['-c', command.replace('temporal', String.raw`printf '%s\n'`)], { encoding: 'utf8' });
  expect(said.split('\n')).toContain(String.raw`WorkflowId = "x'; echo \"pwned\" \\ $(echo pwned) '"`);
});
