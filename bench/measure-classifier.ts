/**
 * Measures the classifier of provider errors on published examples, one vendor left out at a time:
 * `npx tsx bench/measure-classifier.ts <examples.json>`, a list of
 * `{provider, status, body, message, overflow, tokens_reported?: {actual, limit, lower_bound}}`.
 *
 * No rule names a vendor, so leaving one out means taking away all that could tell it: its name,
 * status, codes and the shape of its body. `words` keeps the bare sentence; `figures` writes its
 * numbers in other formats; `wrapped` puts it into bodies of other vendors.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { assessError } from '../src/models/assess-error.ts';

const example = z.object({
  provider: z.string(),
  status: z.number().nullish(),
  body: z.unknown(),
  message: z.string(),
  overflow: z.boolean(),
  tokens_reported: z
    .object({ actual: z.number().optional(), limit: z.number().optional(), lower_bound: z.boolean().optional() })
    .optional(),
});

type Example = z.infer<typeof example>;

const grouped = (separator: string) => (sentence: string) =>
  sentence.replaceAll(/(?<![\w.,'-])\d{4,7}(?![\w.,'-]*\d)/g, (digits) =>
    digits.replaceAll(/\B(?=(?:\d{3})+$)/g, separator),
  );

const FORMATS = [grouped(','), grouped('.'), grouped(' '), grouped("'"), grouped('_')];

const WRAPPERS: readonly ((sentence: string) => unknown)[] = [
  (message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
  (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
  (message) => ({ detail: [{ loc: ['body'], msg: message, type: 'value_error' }] }),
  (message) => ({ error: { message: 'Provider returned error', metadata: { raw: JSON.stringify({ message }) } } }),
  (message) => `Error code: 400 - ${JSON.stringify({ error: { message } })}`,
  (message) =>
    `<html><body><h1>400 Bad Request</h1><p>${message.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</p></body></html>`,
];

/** The sentence that says it: of an example whose message says nothing, the longest inner text. */
function sentenceOf({ body, message }: Example): string {
  if (typeof body === 'string') return message;
  const inner = [
    ...JSON.stringify(body)
      .replaceAll(/\\+"/g, '"')
      .matchAll(/"message": ?"([^"]+)"/g),
  ].map(([, text = '']) => text);
  return [message, ...inner].reduce((longest, text) => (text.length > longest.length ? text : longest));
}

function judge(one: Example, body: unknown, status?: number): { readonly kind: boolean; readonly figures: boolean } {
  const raw = { provider: 'unknown', status, headers: {}, body, text: undefined, streamed: false };
  const { kind, actual, limit } = assessError(raw, 0);
  const { actual: wanted, limit: wantedLimit, lower_bound: lowerBound } = one.tokens_reported ?? {};
  return {
    kind: (kind === 'overflow') === one.overflow,
    figures: (lowerBound === true || (wanted ?? actual) === actual) && (wantedLimit ?? limit) === limit,
  };
}

const COLUMNS: readonly (readonly [
  string,
  (one: Example) => readonly { readonly kind: boolean; readonly figures: boolean }[],
])[] = [
  ['as sent', (one) => [judge(one, one.body, one.status ?? undefined)]],
  ['words', (one) => [judge(one, sentenceOf(one))]],
  ['figures', (one) => FORMATS.map((format) => judge(one, format(sentenceOf(one))))],
  ['wrapped', (one) => WRAPPERS.map((wrap) => judge(one, wrap(sentenceOf(one)), 400))],
];

const [file] = process.argv.slice(2);
if (file === undefined)
  throw new Error('Name the file of examples: npx tsx bench/measure-classifier.ts <examples.json>');
const examples = z.array(example).parse(JSON.parse(readFileSync(file, 'utf8')));
const vendors = [...new Set(examples.map(({ provider }) => provider)), 'all'];
console.log(`| left out | cases | ${COLUMNS.map(([name]) => name).join(' | ')} | sizes read |`);
console.log(`|---|---|${COLUMNS.map(() => '---|').join('')}---|`);
for (const vendor of vendors) {
  const own = examples.filter(({ provider }) => vendor === 'all' || provider === vendor);
  const cells = COLUMNS.map(([, verdicts]) => {
    const all = own.flatMap(verdicts);
    return `${all.filter(({ kind }) => kind).length}/${all.length}`;
  });
  const sized = own.filter(({ overflow, tokens_reported }) => overflow && tokens_reported !== undefined);
  const read = sized.flatMap((one) => COLUMNS.flatMap(([, verdicts]) => verdicts(one)));
  const sizes = `${read.filter(({ figures }) => figures).length}/${read.length}`;
  console.log(`| ${vendor} | ${own.length} | ${cells.join(' | ')} | ${sizes} |`);
}
