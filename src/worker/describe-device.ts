import { arch, platform, release } from 'node:os';

/** System, locale and time zone of the machine that runs the tools, as an agent is told of it. */
export function describeDevice(): string {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return [`System: ${platform()} ${release()} (${arch()})`, `Locale: ${locale}`, `Time zone: ${timeZone}`].join('\n');
}
