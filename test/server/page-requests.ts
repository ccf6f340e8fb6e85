import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { fillLog } from './fill-log.ts';
import { faultsOfPage } from './page-checks.ts';
import type { PageHarness } from './page-harness.ts';

/** The server does what the page asks for next, and the page hears nothing any more: also not that it was done. */
async function loseAnswer(page: Page, path: RegExp): Promise<void> {
  await page.route(/\/v1\//u, async (route) => {
    const request = route.request();
    if (request.method() === 'POST' && path.test(request.url())) await route.fetch();
    await route.abort();
  });
}

/** What pages ask a server for, where its answers are lost, refused or late. */
export function testRequests(pages: PageHarness): void {
  test('a task with a file, a message that steers its turn and a decision, whose answers were lost, count once when they are sent again', async () => {
    const { page, said, harness, untilState } = pages;
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const pressTwice = async (name: string, path: RegExp): Promise<void> => {
      await loseAnswer(page, path);
      await press(name);
      await page.getByText('Try it again: it counts once.').waitFor();
      // All else stays unheard meanwhile: a page that learns what was done takes the button away.
      await page.route(path, (route) => (route.request().method() === 'POST' ? route.continue() : route.fallback()));
      const answered = page.waitForResponse(path);
      await press(name);
      await answered;
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    };
    const listed = async () => (await harness.client.conversation.list()).items.length;
    const before = await listed();
    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.getByLabel('Task', { exact: true }).fill('Call deploy with {"version": "8"}\nSay first');
    const file = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note on herons') };
    await page.getByLabel('Files').setInputFiles(file);
    await pressTwice('Start', /\/v1\/conversations$/u);
    await page.getByText('a note on herons').waitFor();
    await page.locator('.decision').waitFor();
    expect(await listed()).toBe(before + 1);
    await page.getByLabel('Message').fill('Say steered');
    await pressTwice('Send', /\/messages$/u);
    await page.getByText('1 message of you waiting.').waitFor();
    await pressTwice('Approve once a', /\/approve$/u);
    const steered = said('steered');
    await steered.waitFor();
    await untilState('completed');
    // The same words again, on purpose.
    await page.getByLabel('Message').fill('Say steered');
    await press('Send');
    await steered.nth(1).waitFor();
    const { items } = await harness.client.log.events({
      conversationId: page.url().slice(-36),
      kinds: ['turn_begun', 'message_taken', 'decision_made'],
    });
    const inTurn = ['turn_begun', 'message_taken', 'decision_made', 'message_taken'];
    expect(items.map(({ kind }) => kind)).toEqual([...inTurn, 'turn_begun', 'message_taken']);
  });

  test('a page that is behind by many pages of entries reads to the end, and does not read again what has not changed', async () => {
    const { page, said, harness, startTask, untilState } = pages;
    await startTask('Say first');
    await untilState('completed');
    await said('first').waitFor();
    // More than two pages, and few enough for the model's window.
    await fillLog(harness.database, page.url().slice(-36), 400);
    const read: string[] = [];
    page.on('request', (request) => read.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''));
    await page.getByLabel('Message').fill('Say second');
    await page.keyboard.press('Control+Enter');
    await said('second').waitFor();
    await page.getByText('Entry 400', { exact: true }).waitFor();
    await untilState('completed');
    for (const name of ['pins', 'summaries', 'lineage']) expect(read).not.toContain(name);
  });

  test('what waits for a login does not take away a key that is being typed', async () => {
    const { page, harness } = pages;
    const typing = await page.context().newPage();
    await typing.clock.install();
    const refused = { code: 'key_missing', detail: 'The request names no API key.' };
    await typing.route(/\/v1\//u, (route) => route.fulfill({ status: 401, json: refused }));
    await typing.route(/\/login$/u, (route) => route.fulfill({ status: 204 }));
    await typing.goto(harness.server.url);
    await typing.getByLabel('API key').fill('hf_half');
    await typing.clock.runFor(60_000);
    expect(await typing.getByLabel('API key').inputValue()).toBe('hf_half');
    expect(await faultsOfPage(typing)).toEqual([]);
    await typing.unroute(/\/v1\//u);
    await typing.keyboard.press('Enter');
    await typing.locator('.conversations li').first().waitFor();
    await typing.close();
  });

  test('a stream of events that is silent is opened again', async () => {
    const { page, harness } = pages;
    const { conversationId } = await harness.client.start('Say first');
    const other = await page.context().newPage();
    await other.clock.install();
    await other.route(/\/events$/u, () => undefined);
    await other.goto(`${harness.server.url}/#/conversations/${conversationId}`);
    await other.getByLabel('Message').waitFor();
    await other.clock.runFor(60_000);
    await other.getByRole('alert').waitFor();
    await other.unrouteAll({ behavior: 'ignoreErrors' });
    // Also the one that was begun since is silent.
    await other.clock.runFor(50_000);
    await other.getByRole('alert').waitFor({ state: 'detached' });
    await other.close();
  });
}
