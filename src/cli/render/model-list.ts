import type { ListedModel } from '../models.ts';
import { formatCount } from './numbers.ts';
import { safeLine } from './safe-text.ts';
import type { Style } from './style.ts';
import { tableLines } from './table.ts';
import type { Column } from './table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'model', flexible: true },
  { title: 'window', align: 'right' },
  { title: 'input ≤', align: 'right' },
  { title: 'output ≤', align: 'right' },
  { title: '$ input', align: 'right' },
  { title: '$ output', align: 'right' },
  { title: '$ cache read', align: 'right' },
  { title: '$ cache write', align: 'right' },
  { title: 'source' },
];

interface Prices {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
}

/** A line per model; below it the prices of long inputs and windows that servers named. */
export function modelListLines(
  models: readonly ListedModel[],
  options: { readonly columns: number | null; readonly style: Style },
): string[] {
  const rows = models.flatMap(({ name, limits, prices, source, learned }) => [
    [
      safeLine(name),
      formatCount(limits.window),
      formatCount(limits.maximumInput ?? limits.window),
      formatCount(limits.maximumOutput),
      ...priceCells(prices),
      safeLine(source),
    ],
    ...(prices.longInput === undefined
      ? []
      : [
          [
            `  input over ${formatCount(prices.longInput.aboveTokens)}`,
            '',
            '',
            '',
            ...priceCells(prices.longInput),
            '',
          ],
        ]),
    ...learned.map(({ server, tokens, messages, learnedAt }) => [
      `  at ${safeLine(server)}`,
      tokens === null ? '' : formatCount(tokens),
      '',
      '',
      '',
      '',
      '',
      '',
      `${messages === null ? '' : `at most ${formatCount(messages)} messages, `}named in an error, ${learnedAt.slice(0, 10)}`,
    ]),
  ]);
  return tableLines(COLUMNS, rows, options);
}

function priceCells({ input, output, cacheRead, cacheWrite }: Prices): string[] {
  return [input, output, cacheRead, cacheWrite].map((price) => (price === null ? 'unknown' : `${price}`));
}
