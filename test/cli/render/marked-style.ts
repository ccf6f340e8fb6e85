import type { Style } from '../../../src/cli/render/text/style.ts';

const between = (mark: string) => (text: string) => `${mark}${text}${mark}`;

/** Sets text off by a character on each side, where escape codes would be hard to read. */
export const MARKED_STYLE: Style = {
  bold: between('*'),
  dim: between('~'),
  red: between('!'),
  green: between('+'),
  yellow: between('^'),
  cyan: between('#'),
};
