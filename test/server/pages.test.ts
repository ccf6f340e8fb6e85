import axe from 'axe-core';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { loginLink } from '../../src/server/login-link.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { launchChromium } from '../support/chromium.ts';
import { createHoldingTool } from '../support/holding-tool.ts';
import { startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

let harness: ServerHarness;
let browser: Browser;
let page: Page;
/** What the browser complained about: scripts that failed, and what the content security policy refused. */
const complaints: string[] = [];

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys a version.',
  input: z.object({ version: z.string() }),
  effect: 'once',
  approval: () => true,
  run: ({ version }) =>
    Promise.resolve({ content: `deployed ${version} \u001B[31mred \u202Ertl <img src=x onerror=alert(1)>` }),
});

const readLog = defineTool({
  name: 'read_log',
  description: 'Reads a page of the log.',
  input: z.object({ page: z.number() }),
  effect: 'none',
  run: ({ page: number }) =>
    Promise.resolve({
      content: Array.from(
        { length: 300 },
        (_, line) => `${number}:${line} service-${line} answered in ${line} ms`,
      ).join('\n'),
    }),
});

const holding = createHoldingTool();
const LOOKS = [
  [1440, 'light'],
  [1024, null],
  [390, 'dark'],
] as const;

beforeAll(async () => {
  harness = await startServerHarness({
    tools: [deploy, readLog, holding.tool],
    agent: { tools: ['deploy', 'read_log', 'hold'] },
  });
  await harness.startWorker();
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(20_000);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(line.text());
  });
  await page.goto(await loginLink(harness.server.url));
});
afterAll(async () => {
  holding.release();
  await browser.close();
  await harness.stop();
});

async function startTask(task: string): Promise<void> {
  await page.goto(harness.server.url);
  await page.getByLabel('Task', { exact: true }).fill(task);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByLabel('Message').waitFor();
}

async function untilState(state: string): Promise<void> {
  await page.locator('.heading .state', { hasText: state }).waitFor();
}

/** Breaches of accessibility, and a page that is wider than the window: wide and light, of middle width, narrow and dark. */
async function faultsOfPage(): Promise<string[]> {
  await page.evaluate(axe.source);
  const faults = new Set<string>();
  for (const [width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) faults.add(`wider than ${width}`);
    if (colorScheme === null) continue;
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
    for (const { id, nodes } of violations) faults.add(`${id} at ${width}: ${nodes[0]?.html}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1440, height: 900 });
  return [...faults];
}

test('a person starts a task, approves its call in the inbox, and reads the answer as it was written', async () => {
  await startTask('Call deploy with {"version": "7"}\nSay <b>heron</b>');
  await page.getByText('waits for approval').waitFor();
  await page.getByRole('link', { name: 'Inbox 1' }).click();
  await page.keyboard.press('j');
  expect(await faultsOfPage()).toEqual([]);
  await page.keyboard.press('a');
  await page.getByText('Nothing waits for a decision.').waitFor();
  await page.goBack();
  await page.getByText('<b>heron</b>', { exact: true }).waitFor();
  await untilState('completed');
  await page.locator('.tool summary').click();
  const result = await page.locator('.result').textContent();
  // Escapes, direction marks and elements stand there as text.
  expect(result).toContain('deployed 7 ␛[31mred ⟨U+202E⟩rtl <img src=x onerror=alert(1)>');
  expect(complaints).toEqual([]);
});

test('a person watches a task compact, finds what was dropped, and compares what the model saw', async () => {
  await startTask('Call read_log with {"page": "$index"} 8 times, one by one\nSay heron');
  const card = page.locator('.compaction-card').last();
  await card.getByText('proactive: the threshold was reached').waitFor();
  await untilState('completed');
  await card.getByText('What it dropped').click();
  await card.getByText('Recall was asked for').waitFor();
  await card.getByText(/^Made from \d+ originals$/u).click();
  await card.locator('details[open] .row button').first().click();
  await page.getByRole('dialog', { name: 'Original' }).getByText('$index').first().waitFor();
  await page.keyboard.press('Escape');
  expect(await faultsOfPage()).toEqual([]);
  await page.getByRole('link', { name: 'What the model saw' }).click();
  await page.getByLabel('Difference to the call before').check();
  await page.getByText('New: Agent').first().waitFor();
  expect(await faultsOfPage()).toEqual([]);
  await page.goBack();
  await page.getByRole('link', { name: 'Search this conversation' }).click();
  await page.getByLabel('Words').fill('service-17');
  await page.keyboard.press('Enter');
  await page.locator('mark', { hasText: 'service-17' }).first().waitFor();
  expect(await faultsOfPage()).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a page that is loaded again in the middle of a stream goes on, and stops the turn', async () => {
  await harness.fault({ kind: 'stall_stream', afterBytes: 3_000 });
  await startTask('Write 500 words');
  await page.locator('.activity .entry .text').waitFor();
  await page.reload();
  await untilState('running');
  await page.getByRole('button', { name: 'Stop' }).click();
  await untilState('stopped');
  await page.getByText('The turn ended: stopped.').waitFor();
});

test('a person attaches a file, forks, pins a rule and switches back, and reads on after an outage', async () => {
  await startTask('Say first');
  await untilState('completed');
  await page.getByLabel('Files').setInputFiles({
    name: 'note.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('a note on herons'),
  });
  await page.getByLabel('Message').fill('Say second');
  await page.keyboard.press('Control+Enter');
  await page.getByText('a note on herons').waitFor();
  await page.getByText('second', { exact: true }).waitFor();
  await untilState('completed');
  await page.locator('.entry.assistant').first().hover();
  await page.locator('.entry.assistant').first().getByRole('button', { name: 'Fork here' }).click();
  await page.getByText('second', { exact: true }).waitFor({ state: 'detached' });
  await page.getByLabel('Rule', { exact: true }).fill('Be kind');
  await page.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByRole('button', { name: 'Unpin rule 1' }).waitFor();
  // A branch is switched while the conversation is idle.
  await untilState('completed');
  await page.getByRole('button', { name: 'Switch to branch 0' }).click();
  await page.getByText('second', { exact: true }).waitFor();
  for (const read of ['entries', 'events']) {
    const refused = { code: 'login_needed', detail: `No ${read}.` };
    await page.route(new RegExp(`/${read}\\b`, 'u'), (route) => route.fulfill({ status: 401, json: refused }));
  }
  await page.reload();
  await page.getByText('No entries.').waitFor();
  await page.unrouteAll();
  await page.getByText('second', { exact: true }).waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Conversations' }).click();
  await page.context().setOffline(true);
  await page.getByText('The server does not answer.').waitFor();
  await page.context().setOffline(false);
  await page.getByText('The server does not answer.').waitFor({ state: 'detached' });
  await page.locator('.conversations li').first().waitFor();
  expect(await faultsOfPage()).toEqual([]);
});
