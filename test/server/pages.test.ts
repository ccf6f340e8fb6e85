import { expect, test } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import { CALLS, CONVERSATIONS, ENTRIES, fillLists, fillLog } from './fill-log.ts';
import { HOSTILE, INERT, RED_PIXEL } from './page-tools.ts';
import { faultsOfPage, hiddenFocus, refuseReading, tabTo } from './page-checks.ts';
import { usePages } from './page-harness.ts';
import { testRequests } from './page-requests.ts';

const pages = usePages();

test('by keyboard alone a person starts a task, queues a message, decides calls in the inbox, and reads the answer as written', async () => {
  const { harness, page, said, complaints, untilState } = pages;
  await tabTo(page, page.getByLabel('Task', { exact: true }));
  await page.keyboard.insertText('Call deploy with {"version": "7"} 2 times, one by one\nSay <b>heron</b>');
  await page.keyboard.press('Control+Enter');
  await page.getByText('waits for approval').waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Write a message' }));
  await page.keyboard.press('Enter');
  await page.keyboard.insertText('Say crane');
  await tabTo(page, page.getByLabel('When it enters'));
  for (const key of ['ArrowDown', 'Control+Enter']) await page.keyboard.press(key);
  await page.getByText('1 message of you waiting.').waitFor();
  await tabTo(page, page.getByRole('link', { name: 'Inbox 1' }));
  await page.keyboard.press('Enter');
  await page.locator('.decision').waitFor();
  for (const key of ['j', 'r']) await page.keyboard.press(key);
  await page.keyboard.type('looks fine');
  for (const key of ['Escape', 'a']) await page.keyboard.press(key);
  await page.getByText('looks fine').waitFor();
  await page.locator('.decision').waitFor();
  expect(await faultsOfPage(page)).toEqual([]);
  const listWaiting = () => harness.client.decisions.listWaiting();
  await waitUntil('the second call waits', async () => (await listWaiting()).items.length > 0);
  // A browser that has not read yet what was decided in this one.
  const other = await page.context().newPage();
  const waiting = await listWaiting();
  await other.route(/\/decisions\?/u, (route) => route.fulfill({ json: waiting }));
  await other.goto(`${harness.server.url}/#/inbox`);
  await other.getByRole('button', { name: 'Deny' }).waitFor();
  for (const key of ['j', 't']) await page.keyboard.press(key);
  await page.getByText('Nothing waits for a decision.').waitFor();
  await other.getByRole('button', { name: 'Deny' }).click();
  await other.getByText('is approved already: a decision is final').waitFor();
  await other.unrouteAll();
  await other.getByText('Nothing waits for a decision.').waitFor();
  await other.close();
  const timeline = page.waitForRequest(/\/timeline\?/u);
  await page.goBack();
  await timeline;
  await said('<b>heron</b>').waitFor();
  await said('crane').waitFor();
  await untilState('completed');
  await tabTo(page, page.locator('.tool summary').first());
  await page.keyboard.press('Enter');
  const result = await page.locator('.result').first().textContent();
  expect(result).toContain('deployed 7 ␛[31mred ⟨U+202E⟩rtl <img src=x onerror=alert(1)>');
  expect(complaints).toEqual([]);
});

test('a person watches a task compact, stops it and resumes with a raise, finds what was dropped, and compares what the model saw', async () => {
  const { harness, page, complaints, startTask, untilState } = pages;
  await harness.fault({ kind: 'stall_stream', match: { purpose: 'summary' } });
  await startTask('Call read_log with {"page": "$index"} 8 times, one by one\nSay heron');
  await page.getByText(/^Compacts .* tokens in \d+ messages, \d+ to change \(summary\)/u).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await untilState('stopped');
  await harness.clearFaults();
  await page.getByLabel('Limit to raise').selectOption('raise steps');
  await page.getByRole('button', { name: 'Resume' }).click();
  const card = page.locator('.compaction-card').last();
  await card.getByText('proactive: the threshold was reached').waitFor();
  await untilState('completed');
  await page.getByLabel('Focus of the summary').fill('service-17');
  await page.getByRole('button', { name: 'Compact', exact: true }).click();
  await card.getByText('asked for by a person').waitFor();
  const earlier = page.locator('.compaction-card', { hasText: 'proactive' }).last();
  for (const each of [earlier, card]) {
    await each.getByText('What it dropped').click();
    await each.getByText('Recall was asked for').waitFor();
  }
  await card.getByRole('region', { name: 'Facts that were dropped' }).getByRole('button').first().click();
  await expect.poll(() => page.evaluate('CSS.highlights.has("fact")')).toBe(true);
  await page.keyboard.press('Escape');
  await earlier.getByText(/^Made from \d+ originals$/u).click();
  await earlier.locator('details[open] .row button').first().click();
  await page.getByRole('dialog', { name: 'Original' }).getByText('$index').first().waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.tool summary').last().click();
  expect(await faultsOfPage(page)).toEqual([]);
  expect(await hiddenFocus(page)).toEqual([]);
  const workflow = `agent-turn%3A${page.url().slice(-36)}`;
  expect(await page.getByRole('link', { name: 'Workflow in Temporal' }).getAttribute('href')).toMatch(workflow);
  await page.getByRole('link', { name: 'What the model saw' }).click();
  await page.getByLabel('Difference to the call before').check();
  await page.getByText('New: Agent').first().waitFor();
  expect(await faultsOfPage(page)).toEqual([]);
  await page.goBack();
  await page.getByRole('link', { name: 'Search this conversation' }).click();
  await page.getByLabel('Words').fill('service-17');
  await page.keyboard.press('Enter');
  await page.locator('mark', { hasText: 'service-17' }).first().waitFor();
  expect(await faultsOfPage(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('script, escapes and direction marks in the names of conversations, files and tools are inert', async () => {
  const { page, said, complaints, startTask, untilState } = pages;
  await startTask(`${HOSTILE}\nCall read_log with {"page": 1}\nSay first`);
  await untilState('completed');
  const file = { name: HOSTILE, mimeType: 'text/plain', buffer: Buffer.from('herons') };
  await page.getByLabel('Files').setInputFiles(file);
  await page.getByRole('button', { name: `Remove ${INERT}` }).waitFor();
  await page.getByLabel('Message').fill('Say second');
  await page.keyboard.press('Control+Enter');
  await said('second').waitFor();
  // No provider takes a tool of that name.
  await page.route(/\/entries\?/u, async (route) => {
    const body = await (await route.fetch()).text();
    await route.fulfill({ json: JSON.parse(body.replaceAll('"read_log"', JSON.stringify(HOSTILE))) });
  });
  await page.reload();
  await page.locator('.tool code', { hasText: INERT }).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  expect(await page.locator('h1').textContent()).toBe(INERT);
  await page.getByRole('link', { name: 'Conversations' }).click();
  await page.locator('.conversations .title', { hasText: INERT }).waitFor();
  expect(await page.evaluate('typeof hacked')).toBe('undefined');
  expect(complaints).toEqual([]);
});

test('a page that is loaded again in the middle of a stream goes on, and stops the turn', async () => {
  const { harness, page, startTask, untilState } = pages;
  await startTask('Say first');
  await untilState('completed');
  await harness.fault({ kind: 'stall_stream', afterBytes: 3_000 });
  // Text that came before a page follows is not sent to it again.
  await page.getByLabel('Message').fill('Write 500 words');
  await page.keyboard.press('Control+Enter');
  await page.locator('.activity .entry .text').waitFor();
  await page.reload();
  await untilState('running');
  await page.getByRole('button', { name: 'Stop' }).click();
  await untilState('stopped');
  await page.getByText('The turn ended: stopped.').waitFor();
});

test('a person attaches a picture and a file, forks, pins a rule, switches back, edits and asks again, and reads on after an outage', async () => {
  const { page, said, startTask, untilState, untilIdle } = pages;
  await startTask('Say first');
  await untilState('completed');
  await page.getByLabel('Files').setInputFiles([
    { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note on herons') },
    { name: 'red.png', mimeType: 'image/png', buffer: RED_PIXEL },
  ]);
  await page.getByLabel('Message').fill('Say second');
  await page.keyboard.press('Control+Enter');
  await page.getByText('a note on herons').waitFor();
  await expect
    .poll(() => page.locator('.entry.user img').evaluate((image) => Reflect.get(image, 'naturalWidth')))
    .toBe(1);
  await said('second').waitFor();
  await untilIdle();
  await page.locator('.entry.assistant').first().hover();
  await page.locator('.entry.assistant').first().getByRole('button', { name: 'Fork here' }).click();
  await said('second').waitFor({ state: 'detached' });
  await page.getByLabel('Rule', { exact: true }).fill('Be kind');
  await page.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByRole('button', { name: 'Unpin rule 1' }).waitFor();
  // A branch is switched while the conversation is idle.
  await untilIdle();
  await page.getByRole('button', { name: 'Switch to branch 0' }).click();
  await said('second').waitFor();
  await untilIdle();
  const message = page.locator('.entry.user').last();
  await message.hover();
  await message.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Other words').fill('Say third');
  await page.getByRole('button', { name: 'Send on a branch of its own' }).click();
  await said('third').waitFor();
  await page.getByRole('button', { name: 'Switch to branch 0' }).waitFor();
  await untilIdle();
  await message.hover();
  await message.getByRole('button', { name: 'Answer again' }).click();
  await page.getByRole('button', { name: 'Switch to branch 2' }).waitFor();
  await untilIdle();
  await page.getByRole('button', { name: 'Switch to branch 0' }).click();
  await said('second').waitFor();
  for (const read of ['entries', 'events']) await refuseReading(page, read);
  await page.reload();
  await page.getByText('No entries.').waitFor();
  await page.unrouteAll();
  await said('second').waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Conversations' }).click();
  await page.context().setOffline(true);
  await page.getByText('The server does not answer.').waitFor();
  await page.context().setOffline(false);
  await page.getByText('The server does not answer.').waitFor({ state: 'detached' });
  await page.locator('.conversations li').first().waitFor();
  expect(await faultsOfPage(page)).toEqual([]);
});

testRequests(pages);

test('of thousands of entries only those near the window are in the page, earlier calls are read; a list goes on to its end, is filtered, and is gone after a log-out', async () => {
  const { harness, page, startTask, untilState } = pages;
  await startTask('Say first');
  await untilState('completed');
  await fillLog(harness.database, page.url().slice(-36), ENTRIES);
  await fillLists(harness.database, page.url().slice(-36));
  await page.reload();
  const entry = (number: number) => page.getByText(`Entry ${number}`, { exact: true });
  await entry(ENTRIES).waitFor();
  const shown = page.locator('.timeline .entry');
  expect(await shown.count()).toBeLessThan(60);
  for (const key of ['Home', 'Home']) {
    await page.keyboard.press(key);
    await entry(ENTRIES).waitFor({ state: 'detached' });
  }
  expect(await shown.count()).toBeLessThan(60);
  await page.getByRole('link', { name: 'What the model saw' }).click();
  const calls = page.getByLabel('Model call').locator('option');
  await expect.poll(() => calls.count()).toBe(500);
  await page.getByRole('button', { name: 'Read earlier calls' }).click();
  await expect.poll(() => calls.count()).toBe(CALLS);
  await page.getByRole('link', { name: 'Conversations' }).click();
  const listed = page.locator('.conversations li');
  await expect.poll(() => listed.count()).toBe(50);
  for (const times of [2, 3]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => listed.count()).toBeGreaterThan(50 * (times - 1));
  }
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
  expect(await listed.count()).toBeGreaterThan(CONVERSATIONS);
  for (const state of ['queued', 'working', 'idle']) {
    const read = page.waitForResponse((response) => response.url().includes(`state=${state}`));
    await page.getByLabel('State').selectOption(state);
    expect([state, (await read).status()]).toEqual([state, 200]);
  }
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('This browser is not logged in.').first().waitFor();
  expect(await listed.count()).toBe(0);
  expect(await faultsOfPage(page)).toEqual([]);
});
