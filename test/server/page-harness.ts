import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { loginLink } from '../../src/server/login-link.ts';
import { launchChromium } from '../support/chromium.ts';
import { lazily } from '../support/lazily.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openPage, startOnPage } from './page-checks.ts';
import { deploy, readLog, TEMPORAL } from './page-tools.ts';
import { startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

export interface PageHarness {
  readonly harness: ServerHarness;
  /** Logged in. */
  readonly page: Page;
  /** What its browser complains about. */
  readonly complaints: readonly string[];
  readonly startTask: (task: string) => Promise<void>;
  /** Words in the log. For a moment the page has those of a new answer also where it shows what is being said. */
  readonly said: (words: string) => Locator;
  readonly untilState: (state: string) => Promise<void>;
  /** The page tells a state later than the server; a branch is switched only while nothing runs. */
  readonly untilIdle: () => Promise<void>;
}

/** For all tests of a file: a server with a worker, and a browser on its pages. */
export function usePages(): PageHarness {
  let harness: ServerHarness | undefined;
  let browser: Awaited<ReturnType<typeof launchChromium>> | undefined;
  let pages: PageHarness | undefined;
  beforeAll(async () => {
    [harness, browser] = await Promise.all([startWorkingServer(), launchChromium()]);
    pages = pagesOf(harness, await openPage(browser, await loginLink(harness.server.url)));
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.stop();
  });
  return lazily(() => pages);
}

async function startWorkingServer(): Promise<ServerHarness> {
  const harness = await startServerHarness({
    tools: [deploy, readLog],
    agent: { tools: ['deploy', 'read_log'] },
    server: { configured: { agents: [], presets: [], links: [TEMPORAL] } },
  });
  await harness.startWorker();
  return harness;
}

function pagesOf(harness: ServerHarness, { page, complaints }: Pick<PageHarness, 'page' | 'complaints'>): PageHarness {
  return {
    harness,
    page,
    complaints,
    startTask: (task) => startOnPage(page, task),
    said: (words) => page.locator('[id^="entry-"]').getByText(words, { exact: true }),
    untilIdle: () =>
      waitUntil('the newest conversation is idle', async () => {
        const [newest] = (await harness.client.conversation.list({ limit: 1 })).items;
        return newest?.waitingMessages === 0 && newest.turn?.state === 'ended';
      }),
    untilState: (state) => page.locator('.heading .state', { hasText: state }).waitFor(),
  };
}
