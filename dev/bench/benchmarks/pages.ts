import type { Page } from 'playwright-core';
import { localAccess } from '../../../src/server/access.ts';
import { loginLink } from '../../../src/server/login-link.ts';
import { launchChromium } from '../../../test/support/chromium.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { fillConversation } from '../fill-conversation.ts';
import { runTurn } from '../measured-turn.ts';
import type { BenchOptions } from '../options.ts';
import { exactly, quantileOf, summarize } from '../statistics.ts';
import { serve } from './server.ts';

const ENTRIES = 5_000;
/** Frames and pixels of each: some thousand entries go by, and earlier ones are read on the way. */
const FRAMES = 400;
const PIXELS_A_FRAME = 240;

/** What a person waits for in front of a long conversation. The pages are those that `npm run build` made. */
export async function measurePages(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const { conversationId: template } = await runTurn(stack, 2);
  const { conversationId } = await fillConversation(stack.database, { template, steps: ENTRIES / 2 });
  const server = await serve(localAccess('default'), () => stack.client, false);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
    await page.goto(await loginLink(server.url));
    const opened: number[] = [];
    const frames: number[] = [];
    for (let round = -1; round < rounds; round += 1) {
      const time = await timeOfOpening(page, `${server.url}/#/conversations/${conversationId}`);
      const times = await page.evaluate<number[]>(SCROLL_BACK);
      if (round < 0) continue;
      opened.push(time);
      frames.push(...times);
    }
    const figure = { benchmark: 'pages', unit: 'ms' } as const;
    const late = quantileOf(frames, 0.95);
    return [
      { ...figure, name: 'open 5,000 entries', target: { atMost: 1_000 }, ...summarize(opened) },
      { ...figure, name: 'a frame while they scroll back', ...summarize(frames) },
      { ...figure, name: '95 of 100 frames', target: { atMost: 34 }, ...exactly(late), p95Of: 'frame' },
      { ...figure, name: 'longest frame', ...exactly(Math.max(...frames)) },
    ];
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Until the newest entry is there: the compaction, whose card has read its summary. */
async function timeOfOpening(page: Page, url: string): Promise<number> {
  await page.goto('about:blank');
  const begun = performance.now();
  await page.goto(url);
  await page.locator('.compaction-card .figures').waitFor();
  return performance.now() - begun;
}

/** Milliseconds between the frames of a window that moves up in each. */
const SCROLL_BACK = `new Promise((resolve) => {
  const times = [];
  const move = (last) => requestAnimationFrame((now) => {
    times.push(now - last);
    scrollBy(0, -${PIXELS_A_FRAME});
    if (times.length < ${FRAMES}) move(now);
    else resolve(times);
  });
  requestAnimationFrame(move);
})`;
