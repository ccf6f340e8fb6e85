import type { Page } from 'playwright-core';
import { loginLink } from '../../src/server/login-link.ts';
import { launchChromium } from '../support/chromium.ts';
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
  readonly untilState: (state: string) => Promise<void>;
  /** The page tells a state a second late; a branch is switched only while nothing runs. */
  readonly untilIdle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A server with a worker, and a browser on its pages. */
export async function startPages(): Promise<PageHarness> {
  const harness = await startServerHarness({
    tools: [deploy, readLog],
    agent: { tools: ['deploy', 'read_log'] },
    server: { configured: { agents: [], presets: [], links: [TEMPORAL] } },
  });
  await harness.startWorker();
  const browser = await launchChromium();
  const { page, complaints } = await openPage(browser, await loginLink(harness.server.url));
  return {
    harness,
    page,
    complaints,
    startTask: (task) => startOnPage(page, harness.server.url, task),
    untilIdle: () =>
      waitUntil('the newest conversation is idle', async () => {
        const [newest] = (await harness.client.conversation.list({ limit: 1 })).items;
        return newest?.waitingMessages === 0 && newest.turn?.state === 'ended';
      }),
    untilState: (state) => page.locator('.heading .state', { hasText: state }).waitFor(),
    async stop() {
      await browser.close();
      await harness.stop();
    },
  };
}
