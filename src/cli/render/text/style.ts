import { stripVTControlCharacters } from 'node:util';

/** How text is set off. Each function returns its argument unchanged where colours are off. */
export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>;

const unchanged = (text: string): string => text;

export const PLAIN_STYLE: Style = {
  bold: unchanged,
  dim: unchanged,
  red: unchanged,
  green: unchanged,
  yellow: unchanged,
  cyan: unchanged,
};

const set =
  (on: number, off: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`;

/** The sixteen colours that every theme defines, so that text stays readable on light and dark ground. */
export const COLOR_STYLE: Style = {
  bold: set(1, 22),
  dim: set(2, 22),
  red: set(31, 39),
  green: set(32, 39),
  yellow: set(33, 39),
  cyan: set(36, 39),
};

/** The text as it reads, without what sets it off. */
export function withoutStyle(text: string): string {
  return stripVTControlCharacters(text);
}
