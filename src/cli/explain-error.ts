import type { Command } from 'commander';
import { z } from 'zod';
import { assessCall, type FinishedCall } from '../models/assess-call.ts';
import { assessError } from '../models/assess-error.ts';
import type { ErrorAssessment, Repair } from '../models/error-assessment.ts';
import type { RawError } from '../models/error-signals.ts';
import { isRecord, parseJson } from '../models/json.ts';
import { count } from './count-option.ts';
import { holdfastCommand, withJson } from './holdfast-command.ts';
import type { JsonOption } from './holdfast-command.ts';
import { openOutput } from './output.ts';
import { readStandardInput } from './read-text.ts';
import { formatCount } from './render/numbers.ts';
import { UsageError } from './usage-error.ts';

interface ExplainErrorFlags extends JsonOption {
  readonly provider: string;
  readonly status?: number;
  readonly jsonl?: true;
}

/** `holdfast explain-error`: what Holdfast would do with a provider's error, and why. */
export function explainErrorCommand(): Command {
  return withJson(
    holdfastCommand('explain-error', {
      summary: "tell what Holdfast would do with a provider's error",
      description:
        'Reads the body of an error from standard input, JSON or text, and tells what kind of failure it is, how Holdfast would repair it, and which rule decided. With --jsonl reads one case per line, an object of `provider`, `status`, `headers`, `body` and `message`, each optional, and writes one line of JSON for each: `kind` (`overflow` when the input is over the context window), `repair`, `actual` and `limit` in tokens or null, `evidence`. A case with `answer` instead of `body` is an answer that came, which may hide an overflow: `stopReason` (end, maximum_output, window_full), `usage` (`input`, `output`), `window`, `estimatedInput`, `maximumOutput`, all in tokens; `kind` is `none` when nothing is wrong with it.',
      examples: [
        `echo '{"error": {"message": "prompt is too long: 214315 tokens > 200000 maximum"}}' | npx holdfast explain-error --status 400`,
        'npx holdfast explain-error --jsonl < cases.jsonl > verdicts.jsonl',
      ],
    }),
  )
    .option('--provider <name>', 'who sent it; no rule depends on it, it is only named', 'unknown')
    .option('--status <number>', 'HTTP status (default: none, as in a stream)', count(100, 599))
    .option('--jsonl', 'read one case per line, write one verdict per line')
    .action(explainError);
}

async function explainError(flags: ExplainErrorFlags): Promise<void> {
  const output = openOutput();
  const text = await readStandardInput(flags.jsonl === true ? 'cases' : 'body of the error');
  if (flags.jsonl === true) {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() !== '') output.json(verdict(assessCall(caseOf(line, index + 1), Date.now()) ?? NOTHING_WRONG));
    }
    return;
  }
  const assessment = assessError(
    rawError({ provider: flags.provider, status: flags.status, body: parseJson(text) ?? text }),
    Date.now(),
  );
  if (flags.json === true) output.json(verdict(assessment));
  else output.lines(explanation(assessment));
}

/** One case of `--jsonl`. @throws UsageError when the line is no JSON object. */
function caseOf(line: string, number: number): FinishedCall {
  const value = parseJson(line);
  if (!isRecord(value)) {
    throw new UsageError(
      'usage',
      `Line ${number} is no JSON object.`,
      'Write one case per line: {"provider": "openai", "status": 400, "body": {…}}.',
    );
  }
  if (value['answer'] === undefined) return rawError(value);
  const answer = Answer.safeParse(value['answer']);
  if (answer.success) return { ...rawError(value), answer: { ...answer.data, usage: answer.data.usage } };
  const place = answer.error.issues[0]?.path.join('.') ?? '';
  throw new UsageError(
    'usage',
    `Line ${number}: "answer${place === '' ? '' : `.${place}`}" is wrong or missing.`,
    'Write {"answer": {"stopReason": "end", "usage": {"input": 9, "output": 9}, "window": 8192, "estimatedInput": 9}}.',
  );
}

const tokens = z.number().nonnegative();

/** An answer that came, beside what was asked. */
const Answer = z.strictObject({
  stopReason: z.enum(['end', 'tool_calls', 'maximum_output', 'window_full', 'refusal', 'content_filter', 'other']),
  usage: z
    .strictObject({
      input: tokens,
      output: tokens.default(0),
      cacheRead: tokens.default(0),
      cacheWrite: tokens.default(0),
    })
    .optional(),
  window: tokens,
  estimatedInput: tokens,
  isCalibrated: z.boolean().default(true),
  maximumOutput: tokens.default(8_192),
});

const NOTHING_WRONG: Verdict = { kind: 'none', repair: 'none', evidence: 'an answer with which nothing is wrong' };

function rawError(value: Readonly<Record<string, unknown>>): RawError {
  const { provider, status, headers, body, message } = value;
  return {
    provider: typeof provider === 'string' ? provider : 'unknown',
    status: Number.isInteger(Number(status ?? undefined)) ? Number(status) : undefined,
    headers: isRecord(headers)
      ? Object.fromEntries(Object.entries(headers).map(([name, each]) => [name.toLowerCase(), String(each)]))
      : {},
    body,
    text: typeof message === 'string' ? message : undefined,
    streamed: false,
  };
}

function verdict({ kind, repair, actual = null, limit = null, evidence }: Verdict): Verdict {
  return { kind, repair, actual, limit, evidence };
}

type Verdict = Pick<ErrorAssessment, 'evidence'> & {
  readonly kind: ErrorAssessment['kind'] | 'none';
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

function explanation(assessment: ErrorAssessment): string[] {
  const { kind, repair, actual, limit, maximumOutput, maximumMessages, evidence } = assessment;
  return [
    `Kind      ${kind}`,
    `Repair    ${repair}: ${REPAIRS[repair]}`,
    ...(actual === undefined ? [] : [`Counted   ${formatCount(actual)} tokens`]),
    ...(limit === undefined ? [] : [`Limit     ${formatCount(limit)} tokens`]),
    ...(maximumOutput === undefined ? [] : [`Fits      ${formatCount(maximumOutput)} tokens of output`]),
    ...(maximumMessages === undefined ? [] : [`Takes     ${formatCount(maximumMessages)} messages`]),
    `Because   ${evidence}`,
  ];
}
