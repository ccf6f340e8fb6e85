import { expect, test } from 'vitest';
import { tableLines } from '../../../../src/cli/render/text/table.ts';
import { MARKED_STYLE as style } from '../marked-style.ts';

const COLUMNS = [{ title: 'task', flexible: true }, { title: 'cost', align: 'right' }, { title: 'end' }] as const;

test('in a pipe columns are as wide as their widest cell, the title included', () => {
  expect(tableLines(COLUMNS, [['read all files', '$0.01', 'x']], { columns: null, style })).toEqual([
    '~task          ~  ~ cost~  ~end~',
    'read all files  $0.01  x',
  ]);
});

test('in a terminal the flexible column is cut to what is left, ten columns at least', () => {
  const lines = (columns: number) =>
    tableLines(COLUMNS, [['read all files now', '$0.01', 'end']], { columns, style }).slice(1);
  expect(lines(30)).toEqual(['read all files now  $0.01  end']);
  expect(lines(29)).toEqual(['read all files n…  $0.01  end']);
  expect(lines(9)).toEqual(['read all…   $0.01  end']);
});

test('a cell is painted by its row and column, after it was padded', () => {
  const paint = (text: string, row: number, column: number) => (row === 1 && column === 0 ? style.red(text) : text);
  const lines = tableLines([{ title: 'a' }, { title: 'b' }], [['wide', '1'], ['x']], { columns: null, style, paint });
  expect(lines.slice(1)).toEqual(['wide  1', '!x   !']);
});
