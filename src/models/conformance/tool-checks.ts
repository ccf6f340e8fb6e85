import { textOf } from '../../context/log/content.ts';
import type { ToolSchema } from '../../context/view/view.ts';
import { isRecord, parseJson } from '../protocols/json.ts';
import type { Verdict } from './capability.ts';
import { ask, callsOf, type Probe, type ProbedAnswer, withResults } from './probe.ts';

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
export async function checkToolCalls(probe: Probe): Promise<Verdict> {
  const task = ask('Call weather with {"city": "Paris"}');
  const first = await probe.ask({ messages: [task], tools: [WEATHER] });
  const problem = problemOf(first);
  if (problem !== null) return { status: 'fails', detail: problem };
  const last = await probe.ask({ messages: [task, ...withResults(first, RESULT)], tools: [WEATHER] });
  if (textOf(last.content).trim() === '' && callsOf(last).length === 0)
    return { status: 'fails', detail: 'the call is good, but the answer to its result is empty' };
  return { status: 'works', detail: 'call, result and answer' };
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
export async function checkParallelCalls(probe: Probe): Promise<Verdict> {
  const task = ask('Call weather with {"city": "Paris"} and weather with {"city": "Oslo"}');
  const first = await probe.ask({ messages: [task], tools: [WEATHER] });
  const calls = callsOf(first);
  if (calls.length === 0) return { status: 'limited', detail: 'asked for two calls, the model made none' };
  if (calls.length === 1) return { status: 'limited', detail: 'one call an answer: steps with many calls take longer' };
  if (new Set(calls.map(({ id }) => id)).size < calls.length)
    return { status: 'fails', detail: 'calls of one answer share an id, so that results cannot be told apart' };
  await probe.ask({ messages: [task, ...withResults(first, RESULT)], tools: [WEATHER] });
  return { status: 'works', detail: `${calls.length} calls in one answer, all results taken` };
}

/** Looks at the answers so far: a call with thinking was sent back with its result. */
export function checkThinking(probe: Probe): Verdict {
  const thinking = probe.answers.filter((answer) => answer.content.some((part) => part.type === 'thinking'));
  if (thinking.length === 0) return { status: 'missing', detail: 'no answer came with thinking' };
  const streamed = thinking.some((answer) => answer.deltas.some((delta) => delta.kind === 'thinking'));
  const sentBack = thinking.some((answer) => callsOf(answer).length > 0);
  const how = `${streamed ? 'shown live' : 'not shown live'}, ${sentBack ? 'taken back with results' : 'not sent back yet'}`;
  return { status: 'works', detail: `in ${thinking.length} of ${probe.answers.length} answers, ${how}` };
}
