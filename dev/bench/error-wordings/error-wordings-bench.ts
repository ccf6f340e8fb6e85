import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { classifyError } from '../../../src/models/errors/classify.ts';

const wording = z.object({
  kind: z.string(),
  status: z.number().nullable().default(400),
  message: z.string().optional(),
  body: z.unknown().optional(),
  /** Tokens that the provider counted: those of the refused request. */
  actual: z.number().nullish(),
  /** Share of the window that the refused request filled, where it is known. */
  fill: z.number().optional(),
});

type Wording = z.infer<typeof wording>;

/** Tokens of the model that refuses. */
const WINDOW = 128_000;

/** Multiples of the golden ratio spread evenly, whatever the order of the list. */
const SPREAD = 0.618;

/** Each way to measure: the share of the window that an overflow fills and that another refusal fills, of a share 0 to 1. */
const FILLS: readonly {
  readonly name: string;
  readonly overflow?: number;
  readonly other?: (share: number) => number;
}[] = [
  { name: 'size not known' },
  { name: 'size known, other refusals at any size', overflow: 1.05, other: (share) => share },
  { name: 'size known, other refusals at 90 % or more', overflow: 1.05, other: (share) => 0.9 + share / 10 },
];

/**
 * `npm run bench -- error-wordings [file]`: how many overflows of a list are found, and how many other refusals are taken for
 * one. The list holds a wording a line: `kind`, `status`, and `message` or `body`.
 */
export function errorWordingsBench([file]: readonly string[], print: (text: string) => void): void {
  const path = file ?? new URL('wordings.jsonl', import.meta.url);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const wordings = lines.map((line) => wording.parse(JSON.parse(line)));
  const overflows = wordings.filter(({ kind }) => kind === 'overflow');
  const others = wordings.filter(({ kind }) => kind !== 'overflow');
  for (const { name, overflow, other } of FILLS) {
    const found = overflows.filter((each) => isTakenForOverflow(each, overflow && (each.fill ?? overflow))).length;
    const alarms = others.filter((each, at) =>
      isTakenForOverflow(each, other && (each.fill ?? other((at * SPREAD) % 1))),
    ).length;
    const share = ((100 * found) / overflows.length).toFixed(1);
    const of70 = ((70 * alarms) / others.length).toFixed(1);
    print(
      `${name}: ${found} of ${overflows.length} overflows found (${share} %), ${alarms} of ${others.length} false alarms (${of70} in 70)`,
    );
  }
}

function isTakenForOverflow({ status, message, body, actual }: Wording, fill: number | undefined): boolean {
  const estimatedTokens = actual ?? (fill ?? 0) * WINDOW;
  const size = fill === undefined ? undefined : { estimatedTokens, window: estimatedTokens / fill };
  const error = {
    provider: 'unknown',
    status: status ?? undefined,
    headers: {},
    body: body ?? { error: { message } },
    text: undefined,
    streamed: status === null,
  };
  return classifyError(error, 0, size).cause === 'overflow';
}
