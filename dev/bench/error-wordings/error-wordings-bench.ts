import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import { classifyError } from '../../../src/models/errors/classify.ts';
import type { RequestSize } from '../../../src/models/model-client.ts';

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
 * Wordings of all kinds, and public issue threads whose collectors had not read the rules. The rules were corrected by the
 * first two. The third is judged once, and joins the second after a look at its lines.
 */
const SETS = ['wordings.jsonl', 'issue-threads.jsonl', 'unseen-threads.jsonl'].map(
  (name) => new URL(name, import.meta.url),
);

/**
 * `npm run bench -- error-wordings [file]`: how many overflows of a list are found, and how many other refusals are taken for
 * one. The list holds a wording a line: `kind`, `status`, and `message` or `body`. Default: each list beside this file.
 */
export function errorWordingsBench([file]: readonly string[], print: (text: string) => void): void {
  for (const path of file === undefined ? SETS : [file]) {
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    const wordings = lines.map((line) => wording.parse(JSON.parse(line)));
    print(basename(String(path)));
    for (const fills of FILLS) print(`  ${scoreOf(wordings, fills)}`);
  }
}

function scoreOf(wordings: readonly Wording[], { name, overflow, other }: (typeof FILLS)[number]): string {
  const overflows = wordings.filter(({ kind }) => kind === 'overflow');
  const others = wordings.filter(({ kind }) => kind !== 'overflow');
  const found = overflows.filter((each) => isTakenForOverflow(each, overflow && (each.fill ?? overflow)));
  const alarms = others.filter((each, at) =>
    isTakenForOverflow(each, other && (each.fill ?? other((at * SPREAD) % 1))),
  );
  const share = (part: readonly Wording[], whole: readonly Wording[]): string =>
    `${part.length} of ${whole.length} (${((100 * part.length) / whole.length).toFixed(1)} %)`;
  return `${name}: ${share(found, overflows)} overflows found, ${share(alarms, others)} false alarms`;
}

function sizeOf(fill: number, actual: number | null | undefined): RequestSize {
  if (actual === undefined || actual === null) return { estimatedTokens: fill * WINDOW, window: WINDOW };
  return { estimatedTokens: actual, window: actual / fill };
}

function isTakenForOverflow({ status, message, body, actual }: Wording, fill: number | undefined): boolean {
  const size = fill === undefined ? undefined : sizeOf(fill, actual);
  const error = {
    status: status ?? undefined,
    headers: {},
    body: body ?? { error: { message } },
    streamed: status === null,
  };
  return classifyError(error, 0, size).cause === 'overflow';
}
