import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { composeResult } from './compose-result.ts';
import type { ToolCallEnd, ToolCallEnding, ToolCallOutcome } from './compose-result.ts';
import { DEFAULT_TOOL_TIMEOUT_MILLISECONDS } from '../define-tool.ts';
import { ToolError } from '../errors.ts';
import { didYouMean } from './nearest-name.ts';
import { createOutputSink } from '../process/output-sink.ts';
import type { CollectingSink } from '../process/output-sink.ts';
import { watchPartialOutput, type KeepPartialOutput } from '../process/partial-output.ts';
import { parseToolArguments } from './tool-input.ts';
import type { ToolContext, ToolDefinition } from '../tool.ts';

/**
 * Milliseconds that an aborted tool gets to end by itself; then its call is over, and what it returns later is a late result. More than the
 * half second that a command gets; with the second in which a stop or a takeover is noticed, less than 2 s.
 */
const ABORT_GRACE_MILLISECONDS = 800;

export interface ToolCallRequest {
  /** The tools that the agent was offered. */
  readonly offered: readonly ToolDefinition[];
  readonly name: string;
  /** As the model wrote them, valid JSON or not. */
  readonly argumentsText: string;
  /** What the tool gets; the output sink is made here. Its signal ends the call from outside. */
  readonly context: Omit<ToolContext, 'output'>;
  /** Id that the result's entry will have, so that a clipped result can say how to open the rest. */
  readonly entryId: string;
  /** Values that are masked in everything that the tool returns or writes. */
  readonly secrets?: readonly string[];
  /** Gets what was written so far, once a second while it grows and when the call was aborted. */
  readonly keepPartialOutput?: KeepPartialOutput;
  /** Milliseconds after which the call is ended, whatever time limit the tool has. Default: only the tool's. */
  readonly timeLimit?: number;
  /** Awaited right before the tool runs: from here on it may act. What it throws ends the call without a result. */
  readonly claim?: () => Promise<void>;
}

/**
 * Runs one tool call from the model's text to a result. Never throws for anything that the model or the tool did:
 * unknown tools, malformed or cut-off arguments, a timeout and thrown errors are results that the model can read
 * and act on.
 */
export async function runToolCall(request: ToolCallRequest): Promise<ToolCallOutcome> {
  const sink = sinkFor(request);
  const partial = watchPartialOutput(sink, request.keepPartialOutput ?? (() => Promise.resolve()));
  try {
    const end = await endOf(request, sink);
    if (end.ending === 'aborted') await partial.flush();
    const outcome = await composeResult(request, end, sink);
    return end.later === undefined ? outcome : { ...outcome, later: laterOutcome(request, end.later) };
  } catch (error) {
    await sink.dispose();
    throw error;
  } finally {
    partial.end();
  }
}

async function laterOutcome(request: ToolCallRequest, later: Promise<RunEnd>): Promise<ToolCallOutcome | null> {
  const end = await later;
  return end.ending === 'succeeded' ? composeResult(request, end, sinkFor(request)) : null;
}

function sinkFor({ context, secrets = [] }: ToolCallRequest): CollectingSink {
  return createOutputSink({ previewCharacters: context.resultLimit, secrets });
}

interface RunEnd extends ToolCallEnd {
  /** What a tool comes to that did not react to its end. */
  readonly later?: Promise<RunEnd>;
}

async function endOf(request: ToolCallRequest, sink: CollectingSink): Promise<RunEnd> {
  const tool = request.offered.find((offered) => offered.name === request.name);
  if (tool === undefined) return failed('unknown_tool', unknownTool(request));
  const parsed = await parseToolArguments(tool, request.argumentsText);
  if (!parsed.ok) return failed('invalid_arguments', parsed.message);
  return runWithin(tool, parsed.input, request, sink);
}

function failed(ending: ToolCallEnding, message: string): RunEnd {
  return { ending, result: { content: message, isError: true } };
}

function unknownTool({ name, offered }: ToolCallRequest): string {
  const names = offered.map((tool) => tool.name);
  const list = names.length === 0 ? 'There are no tools.' : `The tools are: ${names.join(', ')}.`;
  return `There is no tool ${JSON.stringify(name.slice(0, 100))}${didYouMean(name, names) || '.'} ${list}`;
}

/** Runs the tool under its timeout and the signal from outside. */
async function runWithin(
  tool: ToolDefinition,
  input: unknown,
  { context, claim, timeLimit = Infinity }: Pick<ToolCallRequest, 'context' | 'claim' | 'timeLimit'>,
  sink: CollectingSink,
): Promise<RunEnd> {
  const outside = context.signal;
  if (!outside.aborted) await claim?.();
  if (outside.aborted) return failed('aborted', 'The call was stopped before it began: it did not run.');
  const milliseconds = Math.min(tool.timeout ?? DEFAULT_TOOL_TIMEOUT_MILLISECONDS, timeLimit);
  const over = new AbortController();
  const timer = setTimeout(() => {
    over.abort(new ToolError('call_over', 'The call reached its time limit.'));
  }, milliseconds);
  const signal = AbortSignal.any([outside, over.signal]);
  try {
    const running = Promise.resolve().then(() => tool.run(input, { ...context, signal, output: sink }));
    const settled = running.then(
      (result): RunEnd => ({ ending: 'succeeded', result }),
      (error: unknown): RunEnd => failed(endingAfter(error), messageOf(error, tool.name)),
    );
    const end = await Promise.race([settled, afterAbort(signal)]);
    const later = end === null ? { later: settled } : {};
    // A tool that finished although it was asked to stop did its work: its result is the truth.
    if (end?.ending === 'succeeded') return end;
    if (outside.aborted) return { ...failed('aborted', stoppedMessage(end, 'The call was stopped.')), ...later };
    if (over.signal.aborted) {
      const limit = `The call was ended after its time limit of ${seconds(milliseconds)}.`;
      return { ...failed('timed_out', stoppedMessage(end, limit)), ...later };
    }
    return end ?? failed('tool_failed', `${tool.name} ended without a result.`);
  } finally {
    clearTimeout(timer);
  }
}

function stoppedMessage(end: RunEnd | null, what: string): string {
  const ended = end === null ? ' It did not react, so it may still go on.' : '';
  return `${what}${ended} What it had done until then is not undone.`;
}

function seconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}

function endingAfter(error: unknown): ToolCallEnding {
  return error instanceof ToolError && error.code === 'outcome_unknown' ? 'outcome_unknown' : 'tool_failed';
}

function messageOf(error: unknown, toolName: string): string {
  if (error instanceof ToolError) return error.message;
  const reason = error instanceof Error ? error.message || error.name : String(error);
  return `${toolName} failed: ${reason}`;
}

/** Settles a while after the signal was aborted, so that no tool can hold a stop up. */
async function afterAbort(signal: AbortSignal): Promise<null> {
  if (!signal.aborted) await once(signal, 'abort');
  return delay(ABORT_GRACE_MILLISECONDS, null, { ref: false });
}
