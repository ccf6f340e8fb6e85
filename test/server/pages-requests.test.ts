import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillLog } from './fill-log.ts';
import { startPages } from './page-harness.ts';
import type { PageHarness } from './page-harness.ts';

let pages: PageHarness;

beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.stop());

/** The server does what the page asks for next, and the answer is lost. */
async function loseAnswer(page: Page, path: RegExp): Promise<void> {
  const lose = async (route: Route): Promise<void> => {
    await route.fetch();
    await route.abort();
  };
  await page.route(path, (route) => (route.request().method() === 'POST' ? lose(route) : route.continue()));
}

test('a task with a file, a message and a decision whose answers were lost count once when they are sent again', async () => {
  const { page, harness, untilState } = pages;
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const pressTwice = async (name: string, path: RegExp): Promise<void> => {
    await loseAnswer(page, path);
    await press(name);
    await page.getByText('Try it again: it counts once.').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await press(name);
  };
  await page.getByLabel('Task', { exact: true }).fill('Say first');
  const file = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note on herons') };
  await page.getByLabel('Files').setInputFiles(file);
  await pressTwice('Start', /\/v1\/conversations$/u);
  await page.getByText('a note on herons').waitFor();
  await untilState('completed');
  expect((await harness.client.conversation.list()).items).toHaveLength(1);
  await page.getByLabel('Message').fill('Call deploy with {"version": "7"}\nSay second');
  await pressTwice('Send', /\/messages$/u);
  await page.locator('.decision').waitFor();
  await pressTwice('Approve once a', /\/approve$/u);
  await page.getByText('second', { exact: true }).waitFor();
  await untilState('completed');
  // The same words again, on purpose.
  await page.getByLabel('Message').fill('Say first');
  await press('Send');
  await page.getByText('first', { exact: true }).nth(1).waitFor();
  const { items } = await harness.client.log.events({
    conversationId: page.url().slice(-36),
    kinds: ['message_taken', 'decision_made'],
  });
  expect(items.map(({ kind }) => kind)).toEqual(['message_taken', 'message_taken', 'decision_made', 'message_taken']);
});

test('a page that is behind by many pages of entries reads to the end, and does not read again what has not changed', async () => {
  const { page, harness, startTask, untilState } = pages;
  await startTask('Say first');
  await untilState('completed');
  await page.getByText('first', { exact: true }).waitFor();
  // More than two pages, and few enough for the model's window.
  await fillLog(harness.database, page.url().slice(-36), 400);
  const read: string[] = [];
  page.on('request', (request) => read.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''));
  await page.getByLabel('Message').fill('Say second');
  await page.keyboard.press('Control+Enter');
  await page.getByText('second', { exact: true }).waitFor();
  await page.getByText('Entry 400', { exact: true }).waitFor();
  await untilState('completed');
  for (const name of ['pins', 'summaries', 'lineage']) expect(read).not.toContain(name);
});
