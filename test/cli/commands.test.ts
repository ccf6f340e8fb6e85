import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findConversation } from '../../src/cli/find-conversation.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { parseOutput } from './cli-result.ts';
import type { CliResult } from './cli-result.ts';
import { runInProcess } from './run-in-process.ts';

/** A conversation that called the survey tool, which writes more than may be shown, several times. */
let conversationId: string;

const cli = async (...args: readonly string[]): Promise<CliResult> =>
  runInProcess(args, { environment: harness.environment, directory: harness.workspace });

/** Longer than a result may be shown, so that an original is kept beside it; the last bytes are no UTF-8. */
const SURVEY = Array.from(
  { length: 3_000 },
  (_, number) => `Line ${number} of the survey: the heron nests at marker ${number * 7}.`,
).join('\n');

const survey = defineTool({
  name: 'survey',
  description: 'A long survey.',
  input: z.object({ part: z.number() }),
  effect: 'none',
  run: async () => ({ content: SURVEY }),
});

const entryList = z.object({
  entries: z.array(
    z.object({
      entryId: z.string(),
      sequence: z.number(),
      kind: z.string(),
      toolName: z.string().nullable(),
      originalBytes: z.number().nullable(),
    }),
  ),
});

const harness = useTurnHarness({ agent: { tools: ['survey', 'read_file'] }, tools: [survey] });

beforeAll(async () => {
  await harness.startWorker();
  const turn = await harness.runTask(
    [
      ...[1, 2, 3].map((part) => `Call survey with {"part":${part}}`),
      'Call read_file with {"path":"missing.txt"}',
      'Say The survey is read.',
    ].join('\n'),
  );
  expect(turn.outcome).toBe('completed');
  ({ conversationId } = turn);
});

describe('list and show', () => {
  test('list shows the conversation, in text and as JSON', async () => {
    const text = await cli('list');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toContain(conversationId.slice(-8));
    expect(text.stdout).toContain('completed');
    expect(JSON.parse((await cli('list', '--json')).stdout)).toEqual({
      conversations: [expect.objectContaining({ conversationId })],
      hasMore: false,
    });
    expect(JSON.parse((await cli('list', '--tenant', 'acme', '--json')).stdout)).toMatchObject({ conversations: [] });
    expect(JSON.parse((await cli('cost', '--tenant', 'acme', '--json')).stdout)).toMatchObject({ costs: [] });
  });

  test('a conversation is named by its id, the beginning or end of it, as list prints it, or `last`', async () => {
    const references = [
      conversationId,
      conversationId.toUpperCase(),
      conversationId.slice(-8),
      `…${conversationId.slice(-8)}`,
      conversationId.slice(0, 13),
      'last',
    ];
    for (const reference of references) {
      expect(await findConversation(harness.client, reference)).toBe(conversationId);
    }
  });
});

describe('an entry', () => {
  test('goes into a pipe with its whole original, byte for byte; without one, as its text', async () => {
    const { entries } = parseOutput(await cli('show', 'last', '--json'), entryList);
    const result = entries.find((entry) => entry.toolName === 'survey');
    expect(result?.originalBytes).toBe(SURVEY.length);
    const { code, stdout } = await cli('entry', result?.entryId ?? '');
    expect(code).toBe(0);
    expect(stdout === SURVEY).toBe(true);
    expect((await cli('entry', entries.at(-1)?.entryId ?? '')).stdout).toBe('The survey is read.');
    expect((await cli('entry', 'last', String(entries.at(-1)?.sequence))).stdout).toBe('The survey is read.');
    const bare = await cli('entry', '2');
    expect(bare).toMatchObject({ code: 2, stdout: '' });
    expect(bare.stderr).toContain('the conversation and then the number');
  });

  test('that does not exist is an error with the next step', async () => {
    const { code, stdout, stderr } = await cli('entry', '01981f3c-0000-7000-8000-000000000000');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error \(entry_not_found\): .*\nnext: .*holdfast show/u);
  });
});

describe('view', () => {
  test('prints what the model saw at a call and that it is what was sent', async () => {
    const { stdout, code } = await cli('view', 'last', '--at', '2');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^call 1\.2\.1 · answered · simulator\/sim-32k · [\d,]+ tokens\n✓ This is what was sent, byte for byte/u,
    );
    expect(stdout).toContain('── result of survey');
    expect(stdout).toContain('→ survey {"part":1}');
    expect(stdout).not.toContain('→ survey {"part":2}');
  });

  test('lists the calls with the addresses that --at takes', async () => {
    const { stdout } = await cli('view', 'last', '--calls');
    const [first = ''] = stdout.split('\n');
    expect(first).toMatch(/^1\.1\.1 +answered/u);
    expect((await cli('view', 'last', '--at', first.split(' ')[0] ?? '')).stdout).toContain('── system');
    const { calls } = z
      .object({ calls: z.array(z.unknown()) })
      .parse(JSON.parse((await cli('view', 'last', '--calls', '--json')).stdout));
    expect(calls).toHaveLength(stdout.trimEnd().split('\n').length);
  });

  test('says what is wrong with an address, and that a call was never made', async () => {
    expect(await cli('view', 'last', '--at', '1.x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('<turn>.12') as string,
    });
    expect(await cli('view', 'last', '--at', '0')).toMatchObject({ code: 2 });
    const { code, stderr } = await cli('view', 'last', '--at', '99');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error \(model_call_not_found\): .*99.*\nnext: .*--calls/u);
  });
});

describe('context and memory', () => {
  test('context shows what fills the window', async () => {
    const { stdout, code } = await cli('context', 'last');
    expect(code).toBe(0);
    expect(stdout).toContain('simulator/sim-32k');
    expect(stdout).toMatch(/tool results +█+/u);
    const { context } = parseOutput(
      await cli('context', 'last', '--json'),
      z.object({ context: z.object({ total: z.number(), toolResults: z.number() }) }),
    );
    expect(context.total).toBeGreaterThan(context.toolResults);
    expect(context.toolResults).toBeGreaterThan(1_000);
  });

  test('recall finds a passage and sets nothing off in a pipe', async () => {
    const { stdout } = await cli('recall', 'last', 'heron marker', '--limit', '2');
    expect(stdout).toContain('heron nests at marker');
    expect(stdout).not.toContain('\u001b');
    expect((await cli('recall', 'last', 'xylophone quartet')).stdout).toContain('Nothing found');
    const past = await cli('recall', 'last', 'heron marker', '--before', '2001-01-01');
    expect(past.stdout).toContain('Nothing found');
    const summaries = await cli(
      'recall',
      'last',
      'heron marker',
      '--after',
      '2001-01-01',
      '--kind',
      'summary',
      '--json',
    );
    expect(JSON.parse(summaries.stdout)).toMatchObject({ passages: [] });
  });

  test('recall --agent searches all conversations of an agent and names them', async () => {
    const { stdout } = await cli('recall', '--agent', 'default', 'heron marker', '--limit', '2');
    expect(stdout).toContain('heron nests at marker');
    const [, found = ''] = /, conversation ([0-9a-f]{8}) /u.exec(stdout) ?? [];
    expect((await cli('recall', found, 'heron marker')).stdout).toContain('heron nests at marker');
    expect((await cli('recall', '--agent', 'nobody', 'heron marker')).stdout).toContain(
      'Nothing found in conversations of agent "nobody"',
    );
    const reversed = await cli('recall', 'last', 'heron', '--after', '2030-01-01', '--before', '2020-01-01');
    expect(reversed.code).toBe(2);
    expect(reversed.stderr).toContain('Give --before a later time than --after.');
    const both = await cli('recall', 'last', 'heron marker', '--agent', 'default');
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('one is named too')]);
    const missing = await cli('recall', 'last');
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('The query is missing.')]);
  });

  test('W36 compact shows the compaction and summaries lists it', async () => {
    expect((await cli('summaries', 'last')).stdout).toContain('Nothing was compacted yet');
    const compacted = await cli('compact', 'last', 'keep the markers');
    expect(compacted.code).toBe(0);
    expect(compacted.stdout).toMatch(/compaction begins: .*you asked for it/u);
    expect(compacted.stdout).toMatch(/compaction done: [\d,]+ → [\d,]+ tokens \(−\d+ %\), .* s$/mu);
    // One that is sent while the turn of the first ends would be taken for the same.
    const watched = await cli('watch', 'last', '--json');
    expect([watched.code, JSON.parse(watched.stdout.trim().split('\n').at(-1) ?? '')]).toEqual([
      0,
      expect.objectContaining({ type: 'event', event: expect.objectContaining({ kind: 'turn_ended' }) }),
    ]);
    const declined = await cli('compact', 'last');
    expect([declined.code, declined.stdout]).toEqual([0, expect.stringMatching(/Nothing was compacted: .* tokens/u)]);
    const listed = await cli('summaries', 'last');
    expect(listed.stdout).toMatch(/^1\. \w+.* [\d,]+ → [\d,]+ tokens/u);
    expect(JSON.parse((await cli('summaries', 'last', '--json')).stdout)).toMatchObject({
      summaries: [{ trigger: 'manual', generation: 1 }],
    });
    const lineage = await cli('summaries', 'last', '--lineage');
    expect(lineage.stdout).toMatch(
      /part 1 \(\w[\w ]*, \S+\) read entries 1–\d+|entry \d+ \w+: [\d,]+ → [\d,]+ characters/u,
    );
  });
});

describe('what does not exist', () => {
  test('an unknown conversation is exit code 2, as text and as JSON', async () => {
    const text = await cli('show', 'ffffff');
    expect(text.code).toBe(2);
    expect(text.stderr).toMatch(/^error \(conversation_not_found\): .*"ffffff".*\nnext: .*holdfast list/u);
    const json = await cli('show', 'ffffff', '--json');
    expect([json.code, json.stderr]).toEqual([2, '']);
    expect(JSON.parse(json.stdout)).toEqual({
      error: { code: 'conversation_not_found', message: expect.stringContaining('ffffff'), next: expect.any(String) },
    });
  });

  test.each([
    [['--agent', 'defualt'], 'did you mean default?'],
    [['--preset', 'defualt'], 'default'],
    [['--model', 'simulater/sim-32k'], 'simulator'],
  ])('%j is refused before anything is sent', async (args, hint) => {
    const { code, stderr } = await cli('start', 'Say hello.', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(hint);
    expect(stderr).toContain('next: ');
    expect((await harness.client.conversation.list()).items).toHaveLength(1);
  });
});
