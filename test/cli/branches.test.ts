import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { useTurnHarness } from '../support/turn-harness.ts';
import { parseOutput } from './cli-result.ts';
import type { CliResult } from './cli-result.ts';
import { runInProcess } from './run-in-process.ts';

let conversationId: string;

const harness = useTurnHarness();

beforeAll(async () => {
  await harness.startWorker();
  ({ conversationId } = await harness.runTask('Say The first answer.'));
  await harness.runTask('Say The second answer.', { conversationId });
});

const cli = async (...args: readonly string[]): Promise<CliResult> =>
  runInProcess(args, { environment: harness.environment, directory: harness.workspace });

/** Kind and last line of what stands on the active branch, notes and markers left out. */
async function said(): Promise<string[]> {
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 500 });
  return entries
    .filter(({ kind }) => kind === 'user' || kind === 'assistant' || kind === 'branch_summary')
    .map(({ kind, content }) => {
      const part = content.find(({ type }) => type === 'text');
      return kind === 'branch_summary' ? kind : part?.type === 'text' ? part.text : '';
    });
}

async function userEntry(text: string): Promise<string> {
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 500 });
  return entries.find(({ kind, content }) => kind === 'user' && JSON.stringify(content).includes(text))?.entryId ?? '';
}

const summaries = async (): Promise<number> => (await harness.asked()).summary;

const changed = z.object({
  outcome: z.literal('completed'),
  reason: z.null(),
  active: z.object({ branch: z.number() }),
});

/** Runs a command that sends a message, and waits for its turn. */
async function answered(...args: readonly string[]): Promise<void> {
  const sent = parseOutput(await cli(...args, '--json'), z.object({ messageId: z.string() }));
  await harness.client.conversation.outcome({
    conversationId,
    messageId: sent.messageId,
    timeoutMilliseconds: 240_000,
  });
}

const FIRST = ['Say The first answer.', 'The first answer.'];
const SECOND = ['Say The second answer.', 'The second answer.'];

test('fork --at goes on behind the entry, with a summary of what is left, and switch goes back', async () => {
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 500 });
  const answer = entries.find(({ kind }) => kind === 'assistant');
  const before = await summaries();
  const fork = await cli('branch', 'fork', conversationId, '--at', answer?.entryId ?? '', '--json');
  expect(fork.code).toBe(0);
  expect(parseOutput(fork, changed).active.branch).toBe(1);
  expect(await said()).toEqual([...FIRST, 'branch_summary']);
  expect(await summaries()).toBe(before + 1);
  const back = await cli('branch', 'switch', conversationId, '0');
  expect(back).toMatchObject({ code: 0 });
  expect(back.stdout).toContain('Branch 0 is active.');
  expect(back.stdout).toContain('npx holdfast send');
  expect(await said()).toEqual([...FIRST, ...SECOND]);
});

test('fork and switch --no-summary ask for none; --at start begins before everything', async () => {
  const before = await summaries();
  const fork = await cli('branch', 'fork', conversationId, '--at', 'start', '--no-summary', '--json');
  expect(parseOutput(fork, changed).active.branch).toBe(2);
  expect(await said()).toEqual([]);
  await harness.runTask('Say Begun anew.', { conversationId });
  await cli('branch', 'switch', conversationId, '0', '--no-summary');
  expect(await said()).toEqual([...FIRST, ...SECOND]);
  expect(await summaries()).toBe(before);
  await cli('branch', 'switch', conversationId, '2', '--no-summary');
  await cli('branch', 'switch', conversationId, '0');
  expect(await said()).toEqual([...FIRST, ...SECOND, 'branch_summary']);
  expect(await summaries()).toBe(before + 1);
});

test('regenerate answers the newest message again, or the one of --at; with --summary of what is left', async () => {
  const before = await summaries();
  await answered('branch', 'regenerate', conversationId);
  expect(await said()).toEqual([...FIRST, ...SECOND]);
  await answered('branch', 'regenerate', conversationId, '--at', await userEntry('The first answer.'));
  expect(await said()).toEqual(FIRST);
  expect(await summaries()).toBe(before);
  await answered('branch', 'regenerate', conversationId, '--summary');
  expect(await said()).toEqual(['branch_summary', ...FIRST]);
  expect(await summaries()).toBe(before + 1);
});

test('edit says a message in other words, without a summary unless it is asked for', async () => {
  const before = await summaries();
  await answered('branch', 'edit', conversationId, await userEntry('The first answer.'), 'Say In other words.');
  expect((await said()).slice(-2)).toEqual(['Say In other words.', 'In other words.']);
  expect(await summaries()).toBe(before);
  await answered('branch', 'edit', conversationId, await userEntry('In other words.'), 'Say Once more.', '--summary');
  expect((await said()).slice(-3)).toEqual(['branch_summary', 'Say Once more.', 'Once more.']);
  expect(await summaries()).toBe(before + 1);
});

test('an entry is named by its number too, on whatever branch it is', async () => {
  await cli('branch', 'switch', conversationId, '0', '--no-summary');
  const question = (await harness.client.log.entries({ conversationId })).items.find(({ kind }) => kind === 'user');
  const number = String(question?.sequence);
  await cli('branch', 'fork', conversationId, '--at', 'start', '--no-summary');
  const resent = await cli('branch', 'regenerate', conversationId, '--at', number);
  expect(resent).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Sent, to be answered on branch \d+\.\n/u) });
  await expect.poll(said).toEqual(FIRST);
  // Said is not yet over: a conversation whose turn has not ended takes no edit.
  const outcome = async () => (await harness.client.conversation.get({ conversationId }))?.turn?.outcome;
  await expect.poll(outcome).toBe('completed');
  await answered('branch', 'edit', conversationId, number, 'Say By its number.');
  expect(await said()).toEqual(['Say By its number.', 'By its number.']);
  await cli('branch', 'switch', conversationId, '0', '--no-summary');
  const [, , fork] = (await harness.client.log.entries({ conversationId })).items;
  await cli('branch', 'fork', conversationId, '--at', String(fork?.sequence), '--no-summary');
  expect((await harness.client.log.entries({ conversationId })).items.at(-1)?.entryId).toBe(fork?.entryId);
});

test('branches lists them; what is no entry and no branch is refused with what to do', async () => {
  const list = await cli('branch', 'list', conversationId);
  expect(list.code).toBe(0);
  expect(list.stdout).toContain('Begun anew.');
  const wrong = await cli('branch', 'fork', conversationId, '--at', 'twelfth');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/"twelfth" is no number and no id of an entry\..*\nnext: .*holdfast show.*`start`/u);
  for (const number of ['0', '99999', '2,000,000,000']) {
    const none = await cli('branch', 'fork', conversationId, '--at', number);
    expect(none.code).toBe(2);
    expect(none.stderr).toMatch(/^error \(entry_not_found\): .*has no entry \d+.*\nnext: .*holdfast show/u);
  }
  const unknown = await cli('branch', 'switch', conversationId, '99');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('99');
});

test('a conversation with branches comes back from a file with all its entries, and every invariant holds', async () => {
  const { stdout: written } = await cli('export', conversationId);
  const file = join(harness.workspace, 'branches.jsonl');
  await writeFile(file, written);
  expect(await cli('delete', conversationId, '--yes')).toMatchObject({ code: 0 });
  expect(await cli('import', file)).toMatchObject({ code: 0 });
  expect((await cli('export', conversationId)).stdout).toBe(written);
  expect(await cli('verify', conversationId, '--no-histories')).toMatchObject({ code: 0 });
});
