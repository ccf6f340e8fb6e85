import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import { end, go } from '../../store/support/branch-builders.ts';
import { conversationOf, continueConversation, send, text, useTestStore } from '../../store/support/store-builders.ts';
import { takeMessages } from '../../../src/store/messages/take-messages.ts';
import { parseOutput } from '../cli-result.ts';
import { runInProcess } from '../run-in-process.ts';

let sql: Database;
let url: string;
useTestStore((store) => {
  ({ sql, url } = store);
});

const listed = z.object({
  conversation: z.object({ entryCount: z.number() }),
  activeEntryCount: z.number(),
  entries: z.array(z.object({ sequence: z.number() })),
});

const show = (...args: string[]) => runInProcess(['show', ...args], { environment: { DATABASE_URL: url } });

/** Sequences that `show` prints, and how many entries it counts on the active branch. */
async function shown(...args: string[]): Promise<{ sequences: number[]; active: number; all: number }> {
  const { entries, activeEntryCount, conversation } = parseOutput(await show(...args, '--json'), listed);
  return {
    sequences: entries.map(({ sequence }) => sequence),
    active: activeEntryCount,
    all: conversation.entryCount,
  };
}

const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index + 1}.`);

/** Says more in a conversation, in a turn of its own. */
async function say(conversationId: string, ...said: string[]): Promise<void> {
  for (const each of said) await send(sql, { conversationId, ...text(each) });
  const turn = await continueConversation(sql, conversationId);
  await takeMessages(sql, turn);
  await end(sql, turn);
}

/** Branch 0 has the entries 1 to 12; branch 1 was forked behind the third and has 13 to 32 of its own. */
async function branched(): Promise<string> {
  const turn = await conversationOf(sql, ...numbered('Left', 12));
  const { conversationId } = turn;
  await end(sql, turn);
  const third = (await listEntries(sql, { conversationId }))[2];
  await go(sql, conversationId, { entryId: third?.id ?? null, summarizes: false });
  await say(conversationId, ...numbered('Right', 20));
  return conversationId;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('after an early fork the newest entries of the new branch are shown, and those before it on its path counted', async () => {
  const conversationId = await branched();
  expect(await shown(conversationId, '--entries', '5')).toEqual({ sequences: range(28, 32), active: 23, all: 32 });
  const { stdout } = await show(conversationId, '--entries', '22');
  expect(stdout).toContain('32 entries · 23 on the active branch');
  expect(stdout).toContain('… 1 earlier (--entries)');
  expect(stdout).toContain('Left 2.');
  expect(stdout).not.toContain('Left 4.');
  expect(await shown(conversationId)).toEqual({ sequences: range(13, 32), active: 23, all: 32 });
});

test('after a switch back without a summary the older branch is shown, whatever the one that was left holds', async () => {
  const conversationId = await branched();
  await go(sql, conversationId, { branch: 0, summarizes: false });
  expect(await shown(conversationId, '--entries', '5')).toEqual({ sequences: range(8, 12), active: 12, all: 32 });
  expect(await shown(conversationId)).toEqual({ sequences: range(1, 12), active: 12, all: 32 });
  const { stdout } = await show(conversationId, '--entries', '5');
  expect(stdout).toContain('… 7 earlier (--entries)');
  expect(stdout).toContain('Left 12.');
  expect(stdout).not.toContain('Right');
});

test('a branch that begins before the first entry shows none, and a conversation with one branch counts once', async () => {
  const conversationId = await branched();
  await go(sql, conversationId, { entryId: null, summarizes: false });
  expect(await shown(conversationId)).toEqual({ sequences: [], active: 0, all: 32 });
  const { conversationId: straight } = await conversationOf(sql, ...numbered('Straight', 3));
  expect(await shown(straight, '--entries', '0')).toEqual({ sequences: [], active: 3, all: 3 });
  const { stdout } = await show(straight);
  expect(stdout).toContain('3 entries');
  expect(stdout).not.toContain('active branch');
  expect(stdout).not.toContain('earlier');
});
