import axe from 'axe-core';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';

/** A page and what its browser complains about: scripts that failed, and what the content security policy refused. */
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; complaints: readonly string[] }> {
  const complaints: string[] = [];
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  // As on a server without TLS that is not on this machine.
  await context.addInitScript('delete Crypto.prototype.randomUUID');
  const page = await context.newPage();
  await page.addInitScript(SHORTER_PAUSES);
  page.setDefaultTimeout(240_000);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(line.text());
  });
  await page.goto(url);
  return { page, complaints };
}

/** A page rests a second or two between two readings, so that a key has requests left; a test would wait for each. */
const SHORTER_PAUSES = `for (const name of ['setTimeout', 'setInterval']) {
  const wait = window[name];
  window[name] = (work, pause = 0, ...given) => wait(work, pause < 10_000 ? pause / 5 : pause, ...given);
}`;

/** Starts a task, and comes to its conversation. */
export async function startOnPage(page: Page, task: string): Promise<void> {
  await page.getByRole('link', { name: 'Conversations' }).click();
  await page.getByLabel('Task', { exact: true }).fill(task);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByLabel('Message').waitFor();
}

/** Answers what a page reads as to a browser that is not logged in. */
export async function refuseReading(page: Page, what: string): Promise<void> {
  const refused = { code: 'login_needed', detail: `No ${what}.` };
  await page.route(new RegExp(`/${what}\\b`, 'u'), (route) => route.fulfill({ status: 401, json: refused }));
}

/** Two columns with room, two with as little as they get, one, and the narrowest phone. */
const WIDTHS = [1440, 1024, 390, 320];
/** One for each layout. */
const LAYOUTS: ReadonlySet<number> = new Set([1440, 390]);

/** The rules that look at colours: those change with the scheme, and not with the width. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Breaches of accessibility in each width, light and dark, and a page that is wider than the window. */
export async function faultsOfPage(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const faults = new Set<string>();
  const check = async (where: string, rules: RunOptions): Promise<void> => {
    const options = { resultTypes: ['violations'], ...rules };
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
    for (const { id, nodes } of violations) faults.add(`${id}, ${where}: ${nodes[0]?.html}`);
  };
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) faults.add(`wider than ${width}`);
    if (LAYOUTS.has(width))
      await check(`at ${width}`, { rules: Object.fromEntries(OF_COLOURS.map((rule) => [rule, { enabled: false }])) });
  }
  // Where nothing is left out for want of room.
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await check(colorScheme, { runOnly: { type: 'rule', values: OF_COLOURS } });
  }
  return [...faults];
}

/** Goes by Tab from the first stop to the last one, and tells which cannot be seen. */
export async function hiddenFocus(page: Page): Promise<string[]> {
  const hidden: string[] = [];
  await page.evaluate('document.activeElement.blur(), scrollTo(0, 0)');
  for (let stop = 0; stop < 100; stop += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate<string | null>(FOCUSED);
    if (name === null) break;
    if (name !== '') hidden.push(name);
  }
  return hidden;
}

/** Name of the element with the focus if it has no outline or something stands over it; `null`: none has it. */
const FOCUSED = `(() => {
  const focused = document.activeElement;
  if (focused === document.body) return null;
  // The middle of what is in the window.
  const { left, right, top, bottom } = focused.getBoundingClientRect();
  const middle = (from, to, end) => (Math.max(0, from) + Math.min(to, end)) / 2;
  const seen = document.elementFromPoint(middle(left, right, innerWidth), middle(top, bottom, innerHeight));
  const isSeen = seen !== null && (focused.contains(seen) || seen.contains(focused));
  return isSeen && getComputedStyle(focused).outlineStyle !== 'none' ? '' : focused.outerHTML.slice(0, 80);
})()`;

/** Goes by Tab to an element of the page. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let stop = 0; stop < 100; stop += 1) {
    await page.keyboard.press('Tab');
    if (await wanted.evaluate((element) => element === element.ownerDocument.activeElement)) return;
  }
  throw new Error(`Tab does not come to ${String(wanted)}`);
}
