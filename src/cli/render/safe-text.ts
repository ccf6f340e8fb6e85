import { stripVTControlCharacters } from 'node:util';

const CONTROLS = /[^\P{Control}\n]/gu;
/** Change the order in which a terminal shows what follows, so that a line reads as another than it is. */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/**
 * Text of a model, a tool or a user without what could act on the terminal: no escape codes, no
 * controls but line feeds; tabs become spaces, so that widths can be counted.
 */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll('\t', '    ')
    .replaceAll(CONTROLS, '')
    .replaceAll(DIRECTION_CONTROLS, '')
    .replaceAll(LONE_SURROGATES, '\ufffd');
}

/** The same on one line: white space of any kind becomes one space. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll(/\s+/gu, ' ').trim();
}
