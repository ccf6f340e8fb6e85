import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { waitForLock } from '../../src/local/setup/lock.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** `HOLDFAST_CHROMIUM`, or one on PATH; `null`: none. */
function installedChromium(): string | null {
  const named = process.env['HOLDFAST_CHROMIUM'];
  if (named !== undefined) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(existsSync) ?? null;
}

/** npm brings one for Linux on x64. */
const isBrought = process.platform === 'linux' && process.arch === 'x64';

export function hasChromium(): boolean {
  return isBrought || installedChromium() !== null;
}

/** Loaded here, since the configuration of all tests asks only whether there is one. */
export async function launchChromium(): Promise<Browser> {
  const { chromium: browserType } = await import('playwright-core');
  const executablePath = installedChromium() ?? (await unpackChromium());
  // Not the package's own arguments: they switch off what keeps sites apart.
  return browserType.launch({ executablePath, args: ['--no-sandbox', '--no-zygote'] });
}

/** A program that another test file still writes cannot be started. */
async function unpackChromium(): Promise<string> {
  const { default: brought } = await import('@sparticuz/chromium');
  const lock = await waitForLock(join(tmpdir(), 'chromium.lock'), () => undefined);
  try {
    return await brought.executablePath();
  } finally {
    lock.release();
  }
}
