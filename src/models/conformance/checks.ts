import { textOf } from '../../context/log/content.ts';
import type { ToolSchema } from '../../context/view/view.ts';
import { detectSilentOverflow } from '../errors/silent-overflow.ts';
import { ModelCallError } from '../model-client.ts';
import { isRecord, parseJson } from '../protocols/json.ts';
import type { Capability, ConformanceFinding, ConformanceStatus } from './capability.ts';
import { ask, callsOf, failureWords, withResults } from './probe.ts';
import type { Probe, ProbedAnswer } from './probe.ts';

/** What a check found; the runner adds its name. */
export type Verdict = Omit<ConformanceFinding, 'capability'>;

export interface ServedWindow {
  /** Tokens. */
  readonly tokens: number;
  /** Where the number comes from. */
  readonly source: string;
}

/** What the checks have to know of the server. */
export interface CheckedServer {
  /** Tokens of the prefix that is sent twice. */
  readonly cacheTokens: number;
  /** `null`: not known. */
  readonly window: () => Promise<ServedWindow | null>;
}

type Check = (probe: Probe, server: CheckedServer) => Promise<Verdict> | Verdict;

/** Each asks the server for something small, or looks at the answers so far. */
export const CHECKS: Readonly<Record<Capability, Check>> = {
  streaming: checkStreaming,
  usage: checkUsage,
  cut_answer: checkCutAnswer,
  tool_calls: checkToolCalls,
  parallel_calls: checkParallelCalls,
  thinking: checkThinking,
  overflow_shape: checkOverflowShape,
  images: checkImages,
  cache_usage: checkCacheUsage,
};

const found =
  (status: ConformanceStatus) =>
  (detail: string): Verdict => ({ status, detail });
const works = found('works');
const limited = found('limited');
const missing = found('missing');
const fails = found('fails');
export const notChecked = found('not_checked');

async function checkStreaming(probe: Probe): Promise<Verdict> {
  const answer = await probe.ask({ messages: [ask('Count from 1 to 30 in digits, separated by spaces.')] });
  const pieces = answer.deltas.length;
  if (pieces === 0 || answer.content.length === 0) return fails('the call succeeded, but the answer is empty');
  return pieces === 1 ? limited('the whole answer came in one piece') : works(`${pieces} pieces`);
}

/** Without usage Holdfast has only its own estimate, and no cost. */
function checkUsage({ answers }: Probe): Verdict {
  const usage = answers[0]?.usage;
  if (usage === undefined) return fails('no usage in the stream: fill and cost would be guesses');
  const reported = `${usage.input} tokens of input, ${usage.output} of output`;
  return usage.input <= 0 || usage.output <= 0 ? fails(`reports ${reported}`) : works(reported);
}

/** The smallest maximum that all vendors accept is 16 (OpenAI Responses). */
const CUT_AFTER = 24;

/** An answer that is cut must say so, or half an answer is taken for a whole one. */
async function checkCutAnswer(probe: Probe): Promise<Verdict> {
  const request = { messages: [ask('Write 500 words about rivers.')], maximumOutput: CUT_AFTER };
  const { stopReason, usage } = await probe.ask(request);
  if (stopReason === 'maximum_output') return works(`cut at ${CUT_AFTER} tokens, and says so`);
  const written = usage === undefined ? '' : ` after ${usage.output} tokens`;
  return limited(`a limit of ${CUT_AFTER} tokens of output ended as "${stopReason}"${written}`);
}

const WEATHER: ToolSchema = {
  name: 'weather',
  description: 'The weather of a city, now.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city.' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const RESULT = '21 degrees, clear sky';

/** A call, its result, and the answer made of it. */
async function checkToolCalls(probe: Probe): Promise<Verdict> {
  const task = ask('Call weather with {"city": "Paris"}');
  const first = await probe.ask({ messages: [task], tools: [WEATHER] });
  const problem = problemOf(first);
  if (problem !== null) return fails(problem);
  const last = await probe.ask({ messages: [task, ...withResults(first, RESULT)], tools: [WEATHER] });
  const isEmpty = textOf(last.content).trim() === '' && callsOf(last).length === 0;
  return isEmpty ? fails('the call is good, but the answer to its result is empty') : works('call, result and answer');
}

function problemOf(answer: ProbedAnswer): string | null {
  const [call] = callsOf(answer);
  if (call === undefined) return `no tool was called; the answer ended as "${answer.stopReason}"`;
  if (call.name !== WEATHER.name) return `a tool was called that was not offered: ${JSON.stringify(call.name)}`;
  const written = parseJson(call.arguments);
  if (!isRecord(written)) return 'the arguments of the call are no JSON object';
  if (typeof written['city'] !== 'string') return 'the arguments of the call do not fit the schema';
  // Several servers say `stop` beside a call; the clients read that as what it is.
  return answer.stopReason === 'tool_calls' ? null : `the answer with the call ended as "${answer.stopReason}"`;
}

/** Two calls in one answer, with results in one request. */
async function checkParallelCalls(probe: Probe): Promise<Verdict> {
  const task = ask('Call weather with {"city": "Paris"} and weather with {"city": "Oslo"}');
  const first = await probe.ask({ messages: [task], tools: [WEATHER] });
  const calls = callsOf(first);
  if (calls.length === 0) return limited('asked for two calls, the model made none');
  if (calls.length === 1) return limited('one call an answer: steps with many calls take longer');
  if (new Set(calls.map(({ id }) => id)).size < calls.length)
    return fails('calls of one answer share an id, so that results cannot be told apart');
  await probe.ask({ messages: [task, ...withResults(first, RESULT)], tools: [WEATHER] });
  return works(`${calls.length} calls in one answer, all results taken`);
}

/** A call with thinking was sent back with its result by an earlier check. */
function checkThinking({ answers }: Probe): Verdict {
  const thinking = answers.filter((answer) => answer.content.some((part) => part.type === 'thinking'));
  if (thinking.length === 0) return missing('no answer came with thinking');
  const streamed = thinking.some((answer) => answer.deltas.some((delta) => delta.kind === 'thinking'));
  const sentBack = thinking.some((answer) => callsOf(answer).length > 0);
  const how = `${streamed ? 'shown live' : 'not shown live'}, ${sentBack ? 'taken back with results' : 'not sent back yet'}`;
  return works(`in ${thinking.length} of ${answers.length} answers, ${how}`);
}

/** Words that every tokenizer knows; about one token each. */
const FILLER = ['the', 'turn', 'goes', 'on', 'and', 'each', 'step', 'adds', 'a', 'line', 'to', 'its', 'log'];

function fillerWords(count: number): string {
  return Array.from({ length: count }, (_, index) => FILLER[index % FILLER.length]).join(' ');
}

/** Tokens above which the request that must be refused is too large to send without being asked for. */
const LARGEST_UNASKED_WINDOW = 300_000;
/** More than the window by this share, for tokenizers that need fewer tokens than words. */
const EXCESS = 1.25;
const SMALLEST_OUTPUT = 16;

/** Sends more than the window holds: the refusal must be understood, since compaction hangs on it. */
async function checkOverflowShape(probe: Probe, server: CheckedServer): Promise<Verdict> {
  const window = await server.window();
  if (window === null) return notChecked('the window is not known: name it with --window');
  if (window.tokens > LARGEST_UNASKED_WINDOW && window.source !== '--window') {
    const size = window.tokens.toLocaleString('en-US');
    return notChecked(`a request over ${size} tokens is sent only when asked for: --window ${window.tokens}`);
  }
  const words = Math.ceil(window.tokens * EXCESS);
  try {
    const answer = await probe.ask({ messages: [ask(fillerWords(words))], maximumOutput: SMALLEST_OUTPUT });
    const silent = detectSilentOverflow({
      provider: 'the server',
      usage: answer.usage,
      stopReason: answer.stopReason,
      window: window.tokens,
      estimatedInput: words,
      isCalibrated: true,
      maximumOutput: SMALLEST_OUTPUT,
    });
    if (silent !== null) return limited(`no error, but noticed: ${silent.evidence}. Let the server refuse instead`);
    const counted = answer.usage === undefined ? '' : ` as ${answer.usage.input} tokens`;
    return notChecked(
      `${words} words were taken${counted}: the window is larger than ${window.tokens} (${window.source})`,
    );
  } catch (error) {
    if (!(error instanceof ModelCallError) || error.verdict.kind === 'retryable') throw error;
    return verdictOf(error);
  }
}

function verdictOf(error: ModelCallError): Verdict {
  const { verdict, status } = error;
  if (verdict.kind !== 'overflow')
    return fails(`a refusal that is not understood, see holdfast model explain-error: ${failureWords(error)}`);
  const { actual, limit } = verdict;
  const figures = [
    ...(actual === undefined ? [] : [`counted ${actual}`]),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
  ];
  const where = status === undefined ? 'an error in the stream' : `HTTP ${status}`;
  return works([where, ...(figures.length === 0 ? ['names no numbers'] : figures)].join(', '));
}

/** A red square. */
const RED_SQUARE =
  'iVBORw0KGgoAAAANSUhEUgAAAOAAAADgAQMAAAAg4/iiAAAAA1BMVEX/AAAZ4gk3AAAAHUlEQVR42u3BMQEAAADCoPVPbQZ/oAAAAAAAAAHgMGWAAAQrTbh4AAAAASUVORK5CYII=';
const PICTURE = { type: 'image', mediaType: 'image/png', data: RED_SQUARE, width: 224, height: 224 } as const;
/** An image of this size costs 64 tokens and more; a line that stands for a lost one costs less. */
const SMALLEST_IMAGE_TOKENS = 30;
const QUESTION = 'Which colour fills this picture? Answer with one word.';

async function checkImages(probe: Probe): Promise<Verdict> {
  try {
    const answer = await probe.ask({ messages: [ask(PICTURE, QUESTION)] });
    if (/\bred\b/i.test(textOf(answer.content))) return works('the answer names its colour');
    const without = await probe.ask({ messages: [ask(QUESTION)] });
    const counted = (answer.usage?.input ?? 0) - (without.usage?.input ?? 0);
    if (counted >= SMALLEST_IMAGE_TOKENS) return works(`read as ${counted} tokens`);
    return missing('the call succeeded, but the image was not read');
  } catch (error) {
    if (!(error instanceof ModelCallError) || error.verdict.kind === 'retryable') throw error;
    return missing(`refused: ${failureWords(error)}`);
  }
}

/** Asks the same twice: the second answer should be read from the cache. */
async function checkCacheUsage(probe: Probe, { cacheTokens }: CheckedServer): Promise<Verdict> {
  // New with every run: an earlier run must not have filled the cache.
  const system = `Note ${Date.now()}. Ignore these words: ${fillerWords(cacheTokens)}`;
  const request = { system, messages: [ask('Say yes.')] };
  const first = await probe.ask(request);
  const { usage } = await probe.ask(request);
  if (usage !== undefined && usage.cacheRead > 0)
    return works(`${usage.cacheRead} of ${usage.input} tokens read from the cache`);
  const written = first.usage?.cacheWrite ?? 0;
  const wrote = written > 0 ? `, though ${written} were written to it` : '';
  return limited(
    `no cached tokens reported for ${usage?.input ?? 0} tokens sent twice${wrote}: every step is counted at the full price`,
  );
}
