import type { Answer, AnswerBlock } from '../core/answer.ts';
import { firstTokens } from '../core/token-counter.ts';
import type { FaultKind } from './fault.ts';

const REFUSAL = "I can't help with that.";

/** What a tool call looks like when a model answers a request for a summary with one. */
const STRAY_CALL = { name: 'read_file', argumentsText: '{"path":"README.md"}' };

/**
 * The answer as a fault of the model's own would have it; unchanged for faults of the transport.
 * @param callId an id for a tool call that the answer did not have
 * @param maximumOutput tokens of the longest answer, which `summary_too_long` goes up to
 */
export function breakAnswer(answer: Answer, kind: FaultKind, callId: string, maximumOutput: number): Answer {
  switch (kind) {
    case 'empty_answer':
    case 'summary_empty':
      return { blocks: [], stop: 'end' };
    case 'refusal':
      return { blocks: [{ kind: 'refusal', text: REFUSAL }], stop: 'refusal' };
    case 'content_filter':
      return { blocks: [], stop: 'content_filter' };
    case 'cut_answer':
    case 'summary_cut_off':
      return { blocks: cutHalf(answer.blocks), stop: 'maximum_output' };
    case 'window_full':
      return { blocks: cutHalf(answer.blocks), stop: 'window_full' };
    case 'malformed_arguments':
      return {
        ...answer,
        blocks: withCalls(answer.blocks, (text) => `${text.slice(0, -1)}, "unquoted: }`, callId),
        stop: 'tool_calls',
      };
    case 'cut_arguments':
      return {
        blocks: withCalls(answer.blocks, (text) => text.slice(0, Math.ceil(text.length / 2)), callId),
        stop: 'maximum_output',
      };
    case 'unknown_tool':
      return {
        blocks: [{ kind: 'tool_call', id: callId, name: 'tool_that_nobody_offered', argumentsText: '{}' }],
        stop: 'tool_calls',
      };
    case 'summary_too_long':
      return { ...answer, blocks: [{ kind: 'text', text: lengthen(answer, maximumOutput) }] };
    case 'summary_tool_call':
      return { blocks: [{ kind: 'tool_call', id: callId, ...STRAY_CALL }], stop: 'tool_calls' };
    case 'summary_without_sections':
      return { ...answer, blocks: [{ kind: 'text', text: flatten(answer) }] };
    case 'overflow':
    case 'rate_limit':
    case 'server_error':
    case 'status':
    case 'connection_reset':
    case 'hang':
    case 'cut_stream':
    case 'stall_stream':
    case 'stream_error':
    case 'delay':
    case 'hold':
      return answer;
  }
}

function cutHalf(blocks: readonly AnswerBlock[]): readonly AnswerBlock[] {
  const last = blocks.at(-1);
  if (last === undefined) return [];
  const half = (text: string): string => text.slice(0, Math.ceil(text.length / 2));
  const cut =
    last.kind === 'tool_call'
      ? { ...last, argumentsText: half(last.argumentsText) }
      : { ...last, text: half(last.text) };
  return [...blocks.slice(0, -1), cut];
}

function withCalls(
  blocks: readonly AnswerBlock[],
  change: (argumentsText: string) => string,
  callId: string,
): readonly AnswerBlock[] {
  const calls = blocks.filter((block) => block.kind === 'tool_call');
  const broken = calls.length > 0 ? blocks : [{ kind: 'tool_call' as const, id: callId, ...STRAY_CALL }];
  return broken.map((block): AnswerBlock =>
    block.kind === 'tool_call' ? Object.assign({}, block, { argumentsText: change(block.argumentsText) }) : block,
  );
}

function textOf(answer: Answer): string {
  return answer.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n');
}

/** Says the same again and again until the model may say no more. */
function lengthen(answer: Answer, maximumOutput: number): string {
  const text = `${textOf(answer)}\n`;
  const repeats = Math.ceil((maximumOutput * 8) / text.length);
  return firstTokens(text.repeat(repeats), maximumOutput - 1);
}

/** The content without a single heading. */
function flatten(answer: Answer): string {
  const lines = textOf(answer).split('\n');
  return (
    lines
      .filter((line) => !/^(#{1,6} |[A-Z][A-Z &]+:)/.test(line))
      .join(' ')
      .trim() || 'The conversation went on as before.'
  );
}
