import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { launchChromium } from '../support/chromium.ts';
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

beforeAll(async () => {
  harness = await startServerHarness({ tools: [deploy], agent: { tools: ['deploy'] } });
  await harness.startWorker();
  browser = await launchChromium();
  page = await browser.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(line.text());
  });
});
afterAll(async () => {
  await browser.close();
  await harness.stop();
});

test('a person starts a task, approves its call in the inbox, and reads the answer as it was written', async () => {
  await page.goto(harness.server.url);
  await page.getByLabel('Task', { exact: true }).fill('Call deploy with {"version": "7"}\nSay <b>heron</b>');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('waits for approval').waitFor();
  await page.getByRole('link', { name: 'Inbox 1' }).click();
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.getByText('Nothing waits for a decision.').waitFor();
  await page.goBack();
  await page.getByText('<b>heron</b>', { exact: true }).waitFor();
  await page.getByText('completed', { exact: true }).first().waitFor();
  await page.locator('.tool summary').click();
  const result = await page.locator('.result').textContent();
  // Escapes, direction marks and elements stand there as text.
  expect(result).toContain('deployed 7 ␛[31mred ⟨U+202E⟩rtl <img src=x onerror=alert(1)>');
  expect(complaints).toEqual([]);
});
