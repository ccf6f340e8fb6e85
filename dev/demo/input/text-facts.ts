import type { AskedFact } from '../job.ts';
import { deepFigure } from './deep-figure.ts';

/** Characters of a line that fits into a cell. */
const LONGEST_LINE = 160;

/** What is asked of any text: its first and last line where they fit into a cell, and a deep figure. */
export function textFacts(text: string, searched: string): readonly AskedFact[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const figure = deepFigure(text, searched);
  return [
    ...lineFact('first', lines[0]),
    ...lineFact('last', lines.at(-1)),
    ...(figure === null
      ? []
      : [{ column: 'figure', words: `the number after "${figure.anchor}"`, value: figure.value }]),
  ];
}

function lineFact(which: 'first' | 'last', line: string | undefined): readonly AskedFact[] {
  const value = line?.trim() ?? '';
  if (value === '' || value.length > LONGEST_LINE || /[|\\<>]/u.test(value)) return [];
  return [{ column: `${which} line`, words: `the ${which} line`, value }];
}
