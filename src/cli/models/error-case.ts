import { z } from 'zod';
import type { AnsweredCall } from '../../models/errors/silent-overflow.ts';
import type { RawError } from '../../models/errors/signals.ts';
import { isRecord, parseJson } from '../../models/protocols/json.ts';
import type { RequestSize } from '../../models/model-client.ts';
import { stopReasonNamed } from '../../models/protocols/answer-collector.ts';

type ErrorCase =
  | { readonly error: RawError; readonly size?: RequestSize }
  | { readonly answer: AnsweredCall }
  | { readonly wrong: string };

/** One line of `explain-error --jsonl`, or what is wrong with it. Never throws. */
export function readErrorCase(line: string): ErrorCase {
  const value = parseJson(line);
  if (!isRecord(value)) return { wrong: 'the line is no JSON object' };
  if (value['answer'] === undefined) return { error: errorOf(value), ...sizeOf(value) };
  const answer = Answer.safeParse(value['answer']);
  const provider = typeof value['provider'] === 'string' ? value['provider'] : 'the server';
  if (answer.success) return { answer: { ...answer.data, usage: answer.data.usage, provider } };
  const place = ['answer', ...(answer.error.issues[0]?.path ?? [])].join('.');
  return { wrong: `"${place}" is wrong or missing` };
}

/** How full the refused request was, where a case says both numbers. */
function sizeOf({ tokens, window }: Readonly<Record<string, unknown>>): { readonly size?: RequestSize } {
  const isKnown = typeof tokens === 'number' && typeof window === 'number' && tokens > 0 && window > 0;
  return isKnown ? { size: { estimatedTokens: tokens, window } } : {};
}

const tokens = z.number().nonnegative();

/** An answer that came, beside what was asked. */
const Answer = z.strictObject({
  stopReason: z.string().transform(stopReasonNamed),
  usage: z
    .strictObject({
      input: tokens,
      output: tokens.default(0),
      cacheRead: tokens.default(0),
      cacheWrite: tokens.default(0),
    })
    .optional(),
  // Of a window that is not known nothing is over, and of an input that is not known nothing is missing.
  window: tokens.default(Number.POSITIVE_INFINITY),
  estimatedInput: tokens.default(0),
  isCalibrated: z.boolean().default(true),
  maximumOutput: tokens.default(8_192),
});

/** The error that a case describes; what is absent or of another type than it should be counts as not known. */
export function errorOf(value: Readonly<Record<string, unknown>>): RawError {
  const { status, headers, body, message } = value;
  const number = typeof status === 'string' && status.trim() !== '' ? Number(status) : status;
  return {
    status: typeof number === 'number' && Number.isInteger(number) ? number : undefined,
    headers: isRecord(headers) ? plainHeaders(headers) : {},
    body: typeof message === 'string' ? [body, message] : body,
    streamed: false,
  };
}

function plainHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, each]) =>
      typeof each === 'string' || typeof each === 'number' ? [[name.toLowerCase(), String(each)]] : [],
    ),
  );
}
