import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';

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
  const { default: brought } = await import('@sparticuz/chromium');
  const executablePath = installedChromium() ?? (await brought.executablePath());
  // Not the package's own arguments: they switch off what keeps sites apart.
  return browserType.launch({ executablePath, args: ['--no-sandbox', '--no-zygote'] });
}
