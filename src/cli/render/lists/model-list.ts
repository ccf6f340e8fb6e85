import type { ListedModel } from '../../models/models.ts';
import { formatCount } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { tableLines } from '../text/table.ts';
import type { Column } from '../text/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'model' },
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
    ...learned.map((limits) => [
      `  at ${safeLine(limits.server)}`,
      limits.tokens === null ? '' : formatCount(limits.tokens),
      '',
      '',
      '',
      '',
      '',
      '',
      [...capWords(limits), 'named in an error', limits.learnedAt.slice(0, 10)].join(', '),
    ]),
  ]);
  return tableLines(COLUMNS, rows, options);
}

type LearnedCaps = Pick<ListedModel['learned'][number], 'mediaParts' | 'mediaBytes'>;

function capWords({ mediaParts, mediaBytes }: LearnedCaps): string[] {
  return [
    ...(mediaParts === null
      ? []
      : [mediaParts === 0 ? 'no images or files' : `at most ${formatCount(mediaParts)} images and files`]),
    ...(mediaBytes === null ? [] : [`at most ${formatCount(mediaBytes)} bytes of images and files`]),
  ];
}

function priceCells({ input, output, cacheRead, cacheWrite }: Prices): string[] {
  return [input, output, cacheRead, cacheWrite].map((price) => (price === null ? 'unknown' : `${price}`));
}
