import { classifyError } from '../../models/errors/classify.ts';
import { detectSilentOverflow } from '../../models/errors/silent-overflow.ts';
import type { ErrorVerdict, FailureCause, Repair, RequestSize } from '../../models/model-client.ts';
import { parseJson } from '../../models/protocols/json.ts';
import { localCommand } from '../command.ts';
import type { Output } from '../output.ts';
import { readStandardInput } from '../read-text.ts';
import { formatCount, plural } from '../render/text/numbers.ts';
import { UsageError } from '../usage-error.ts';
import { errorOf, readErrorCase } from './error-case.ts';
import { count, option } from '../options.ts';

const explain = localCommand({
  description:
    'Reads the body of an error from standard input, JSON or text. Says what kind of failure it is, how Holdfast repairs it, and which rule decided. With --tokens and --window the fill of the request counts too: from 90 % of the window on, an unknown refusal counts as an overflow. --jsonl reads one case per line, an object with optional `provider`, `status`, `headers`, `body`, `message`, `tokens` and `window`. It writes one line of JSON for each: `kind`, `repair`, `actual` and `limit` in tokens or null, `evidence`. A case with `answer` instead of `body` is an answer that may hide an overflow. Its optional fields are `stopReason` (end, maximum_output, window_full, or the name that the vendor gives it), `usage` (`input`, `output`), `window`, `estimatedInput` and `maximumOutput`, in tokens. Its `kind` is `none` if nothing is wrong. A line that cannot be read gets the `kind` `unreadable` and its number as `line`, and the exit code is 2 after the last line.',
  examples: [
    `echo '{"error": {"message": "prompt is too long: 214315 tokens > 200000 maximum"}}' | npx holdfast model explain-error --status 400`,
    'echo "bad request" | npx holdfast model explain-error --status 400 --tokens 195000 --window 200000',
    'npx holdfast model explain-error --jsonl < cases.jsonl > verdicts.jsonl',
  ],
  options: [
    option('--status <number>', 'HTTP status (default: none, as in a stream)', count(100, 599)),
    option('--tokens <number>', 'size of the refused request; needs --window (default: not known)', count(1)),
    option('--window <number>', 'window of the model in tokens; needs --tokens (default: not known)', count(1)),
    option('--jsonl', 'read one case per line, write one verdict per line'),
  ],
  async run({ output }, { status, jsonl = false, ...flags }) {
    const text = await readStandardInput(jsonl ? 'cases' : 'body of the error');
    const size = requestSize(flags);
    if (jsonl) return explainCases(text, output, size);
    if (text.trim() === '' && status === undefined) {
      const next = 'Pipe the body in, as the examples of --help show, or give --status.';
      throw new UsageError('usage', 'Standard input is empty, and there is no --status.', next);
    }
    const error = errorOf({ status, body: parseJson(text) ?? text });
    const assessment = classifyError(error, Date.now(), size);
    return { json: written(assessment), lines: explanation(assessment) };
  },
});

export const commands = { 'explain-error': explain };

/** How full the request was: of two options one alone says nothing. */
function requestSize({
  tokens,
  window,
}: Readonly<Record<'tokens' | 'window', number | undefined>>): RequestSize | undefined {
  if (tokens === undefined && window === undefined) return undefined;
  if (tokens !== undefined && window !== undefined) return { estimatedTokens: tokens, window };
  throw new UsageError('usage', '--tokens and --window belong together.', 'Give both, or none.');
}

/** A verdict for each line that is not empty, also for one that cannot be read: a batch is answered whole. */
function explainCases(text: string, output: Output, size: RequestSize | undefined): void {
  const unreadable: number[] = [];
  let answered = 0;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const read = readErrorCase(line);
    if ('wrong' in read) {
      unreadable.push(index + 1);
      output.json({ ...written({ cause: 'unreadable', repair: 'none', evidence: read.wrong }), line: index + 1 });
    } else {
      const assessed =
        'answer' in read ? detectSilentOverflow(read.answer) : classifyError(read.error, Date.now(), read.size ?? size);
      output.json(written(assessed ?? NOTHING_WRONG));
      answered += 1;
    }
  }
  if (unreadable.length === 0) return;
  const shown = unreadable.slice(0, 10).join(', ');
  throw new UsageError(
    'usage',
    `${plural(unreadable.length, 'line')} could not be read: ${shown}${unreadable.length > 10 ? ', …' : ''}.${answered === 0 ? '' : ` The other ${plural(answered, 'line')} ${answered === 1 ? 'was' : 'were'} answered.`}`,
    'Write one case per line: {"provider": "openai", "status": 400, "body": {…}}.',
  );
}

const NOTHING_WRONG: Verdict = { cause: 'none', repair: 'none', evidence: 'an answer with which nothing is wrong' };

function written({ cause, repair, actual = null, limit = null, evidence }: Verdict) {
  return { kind: cause, repair, actual, limit, evidence };
}

type Verdict = Pick<ErrorVerdict, 'evidence'> & {
  readonly cause: FailureCause | 'none' | 'unreadable';
  readonly repair: Repair | 'none';
  readonly actual?: number | null;
  readonly limit?: number | null;
};

const REPAIRS: Readonly<Record<Repair, string>> = {
  compact: 'compacts the conversation and calls again, once per turn; a second overflow ends the turn',
  lower_max_tokens: 'calls again with a lower maximum output, without compacting',
  drop_media: 'leaves images and files out of the request and calls again',
  drop_thinking: 'leaves thinking of earlier answers out of the request and calls again',
  wait: 'waits as long as the provider says, else longer each time, and calls again',
  stop: "ends the turn and shows the provider's message; the conversation can be continued",
};

function explanation(assessment: ErrorVerdict): string[] {
  const { cause, repair, actual, limit, maximumOutput, evidence } = assessment;
  return [
    `Kind      ${cause}`,
    `Repair    ${repair}: ${REPAIRS[repair]}`,
    ...(actual === undefined ? [] : [`Counted   ${formatCount(actual)} tokens`]),
    ...(limit === undefined ? [] : [`Limit     ${formatCount(limit)} tokens`]),
    ...(maximumOutput === undefined ? [] : [`Fits      ${formatCount(maximumOutput)} tokens of output`]),
    `Because   ${evidence}`,
  ];
}
