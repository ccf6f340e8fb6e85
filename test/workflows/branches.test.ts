import { describe, expect, it } from 'vitest';
import { BRANCH_PREAMBLE } from '../../src/context/summary/branch-summary.ts';
import { textOf } from '../../src/context/log/content.ts';
import type { ListedEntry, SentMessage } from '../../src/client/types.ts';
import { exportConversation } from '../../src/store/transfer/export-conversation.ts';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { verify } from '../../src/verify/verify.ts';
import { importLines } from '../store/support/conversation-files.ts';
import { useTurnHarness } from '../support/turn-harness.ts';

let conversationId: string;

const harness = useTurnHarness();

const entries = async (): Promise<readonly ListedEntry[]> =>
  (await harness.client.log.entries({ conversationId, limit: 500 })).items;

/** What was said on the active branch, notes and markers left out. */
async function said(): Promise<string[]> {
  const spoken = (await entries()).filter(({ kind }) => kind === 'user' || kind === 'assistant');
  return spoken.map(({ content }) => textOf(content).split('\n').at(-1) ?? '');
}

async function done(sent: Promise<SentMessage>): Promise<string | null> {
  const { messageId } = await sent;
  const turn = await harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 120_000 });
  expect(turn.outcome).toBe('completed');
  return turn.reason;
}

const active = async (): Promise<number | undefined> =>
  (await harness.client.branches.list({ conversationId })).find((branch) => branch.active)?.branch;

describe('branches', () => {
  it('are refused while the conversation is at work, with a word that says so', async () => {
    const sent = await harness.client.start('Say The first answer.');
    ({ conversationId } = sent);
    await expect(harness.client.branches.fork({ conversationId, entryId: null })).rejects.toMatchObject({
      code: 'conversation_busy',
      message: expect.stringContaining('is at work'),
    });
    // Its first message waits: there is one to answer again, and that is not the time.
    await expect(harness.client.branches.regenerate({ conversationId })).rejects.toMatchObject({
      code: 'conversation_busy',
    });
    await harness.startWorker();
    await done(Promise.resolve(sent));
    await expect(harness.client.branches.switch({ conversationId, branch: 7 })).rejects.toMatchObject({
      code: 'branch_not_found',
    });
    await expect(harness.client.branches.fork({ conversationId, entryId: 'no id' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    const unknown = '01981f3c-0000-7000-8000-000000000000';
    await expect(harness.client.branches.fork({ conversationId, entryId: unknown })).rejects.toMatchObject({
      code: 'entry_not_found',
    });
  });

  it('P22 fork after an entry: what is left is summarized there, and what follows knows the summary only', async () => {
    const first = await said();
    const [, answer] = (await entries()).filter(({ kind }) => kind === 'user' || kind === 'assistant');
    await harness.runTask(
      'Call write_file with {"path":"src/heron.ts","content":"nest"}\nSay The heron nests at marker 4711.',
      {
        conversationId,
      },
    );
    const before = await harness.requests();
    expect(await done(harness.client.branches.fork({ conversationId, entryId: answer?.entryId ?? '' }))).toBeNull();
    expect((await harness.asked()).summary).toBe(before.summary + 1);
    expect(await said()).toEqual(first);
    const summary = (await entries()).at(-1);
    expect(summary?.kind).toBe('branch_summary');
    const text = textOf(summary?.content ?? []);
    expect(text.startsWith(`${BRANCH_PREAMBLE}\n\n<branch_summary>\n## Goal`)).toBe(true);
    expect(text).toContain('<modified-files>\nsrc/heron.ts\n</modified-files>');
    const turn = await harness.runTask('Say The second branch.', { conversationId });
    expect(turn.outcome).toBe('completed');
    const { view } = await harness.client.log.view({ conversationId });
    expect(JSON.stringify(view.messages)).toContain(BRANCH_PREAMBLE);
    const asked = view.messages.filter((message) => message.role === 'user' && message.origin === 'user');
    expect(JSON.stringify(asked)).not.toContain('Call write_file');
    expect(JSON.stringify(asked)).toContain('Say The second branch.');
    expect(await active()).toBe(1);
  });

  it('P22 P23 switch back: the path is as it was, with a summary of the other branch behind it; recall names the branch', async () => {
    expect(await done(harness.client.branches.switch({ conversationId, branch: 0 }))).toBeNull();
    const path = await said();
    expect(path).toContain('The heron nests at marker 4711.');
    expect(path).not.toContain('The second branch.');
    expect((await entries()).at(-1)?.kind).toBe('branch_summary');
    const passages = await harness.client.memory.search({
      conversationId,
      query: 'second branch',
      kinds: ['assistant'],
    });
    expect(passages[0]).toMatchObject({ text: 'The second branch.', branch: 1, onActiveBranch: false });
  });

  it('keep the pictures of a message that is said in other words', async () => {
    const picture = {
      type: 'image',
      mediaType: 'image/png',
      data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      width: 1,
      height: 1,
    } as const;
    const content = [{ type: 'text', text: 'Say A picture.' }, picture] as const;
    await done(harness.client.conversation.send({ conversationId, content }));
    const shown = (await entries()).findLast(({ kind }) => kind === 'user');
    await done(
      harness.client.branches.edit({ conversationId, entryId: shown?.entryId ?? '', content: 'Say Another.' }),
    );
    const edited = (await entries()).findLast(({ kind }) => kind === 'user');
    expect(edited?.content).toEqual([{ type: 'text', text: 'Say Another.' }, picture]);
    const words = [{ type: 'text', text: 'Say Words alone.' }] as const;
    await done(harness.client.branches.edit({ conversationId, entryId: edited?.entryId ?? '', content: words }));
    expect((await entries()).findLast(({ kind }) => kind === 'user')?.content).toEqual(words);
  });

  it('hold every invariant, and come back from a file with all their entries', async () => {
    const { invariants } = await verify(harness.database, { conversationId });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
    const lines: string[] = [];
    await exportConversation(harness.database, conversationId, (line) => void lines.push(line));
    await deleteConversation(harness.database, conversationId);
    await importLines(harness.database, lines);
    const again: string[] = [];
    await exportConversation(harness.database, conversationId, (line) => void again.push(line));
    expect(again).toEqual(lines);
    const imported = await verify(harness.database, { conversationId });
    expect(imported.invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  });
});
