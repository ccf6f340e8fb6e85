import type { ContentPart } from '../../context/content.ts';
import { numberOf, property } from '../../models/json.ts';
import type { ImportTally, RecordedUsage, SessionImporter, SessionRecord } from '../session-record.ts';
import { contentFrom, imageFromAddress, stringOf, textFrom, unknownBlock } from './content.ts';

interface OpenAnswer {
  content: ContentPart[];
  usage: RecordedUsage | undefined;
  /** A result came: what the model says next is another answer. */
  answered: boolean;
}

/**
 * Codex CLI's JSONL (`~/.codex/sessions/…/rollout-*.jsonl`). The file lists the items of the Responses
 * API without the borders of answers: a result, a message or new reasoning after calls begins the next one.
 */
export function createCodexImporter(tally: ImportTally): SessionImporter {
  let open: OpenAnswer | null = null;
  let model: string | undefined;
  let input: number | null = null;
  let hasAnswered = false;

  function flush(): SessionRecord[] {
    const answer = open;
    open = null;
    if (answer === null || answer.content.length === 0) return [];
    const { content, usage } = answer;
    hasAnswered = true;
    return [
      { kind: 'assistant', content, ...(model !== undefined && { model }), ...(usage !== undefined && { usage }) },
    ];
  }

  function add(part: ContentPart): SessionRecord[] {
    const isNext =
      open !== null &&
      (open.answered || (part.type !== 'tool_call' && open.content.some((other) => other.type !== 'thinking')));
    const before = isNext ? flush() : [];
    open ??= { content: [], usage: undefined, answered: false };
    const index = open.content.filter((other) => other.type === 'tool_call').length;
    open.content.push(part.type === 'tool_call' ? { ...part, index } : part);
    return before;
  }

  function readMessage(payload: unknown): SessionRecord[] {
    const content = contentFrom(property(payload, 'content'), (block) => toPart(block, tally));
    const role = property(payload, 'role');
    if (role === 'assistant') {
      const [first, ...rest] = content;
      return first === undefined ? [] : [...add(first), ...rest.flatMap((part) => add(part))];
    }
    if (content.length === 0) return flush();
    if (role !== 'user' && !hasAnswered && open === null) {
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return [{ kind: 'instructions', text }];
    }
    return [...flush(), { kind: 'user', content }];
  }

  function readItem(payload: unknown): SessionRecord[] {
    const type = textFrom(property(payload, 'type'));
    if (type === 'message') return readMessage(payload);
    if (type === 'reasoning') return add(thinkingFrom(payload));
    if (type.endsWith('_call')) return add(callFrom(payload, type));
    if (!type.endsWith('_output')) {
      tally.unknown(`response_item ${type}`);
      return [];
    }
    const found = property(payload, 'tools');
    const output = property(payload, 'output') ?? (found === undefined ? '' : JSON.stringify(found));
    const result: SessionRecord = {
      kind: 'tool_result',
      callId: textFrom(property(payload, 'call_id')),
      isError: property(payload, 'success') === false || property(output, 'success') === false,
      content: contentFrom(property(output, 'content') ?? output, (block) => toPart(block, tally)),
    };
    const before = flush();
    return [...before, result];
  }

  function readEvent(payload: unknown): void {
    const type = textFrom(property(payload, 'type'));
    tally.leftOut(`event_msg ${type}`);
    if (type !== 'token_count') return;
    const last = property(payload, 'info', 'last_token_usage');
    input = numberOf(property(last, 'input_tokens')) ?? input;
    if (open !== null && input !== null) {
      open.usage = { input, output: numberOf(property(last, 'output_tokens')) ?? 0 };
    }
  }

  function read(line: unknown): SessionRecord[] {
    const payload = property(line, 'payload');
    const type = textFrom(property(line, 'type'));
    switch (type) {
      case 'session_meta': {
        const text = stringOf(property(payload, 'base_instructions', 'text') ?? property(payload, 'instructions'));
        const id = stringOf(property(payload, 'id')) ?? null;
        return [{ kind: 'session', id }, ...(text === undefined ? [] : [{ kind: 'instructions' as const, text }])];
      }
      case 'turn_context':
        model = stringOf(property(payload, 'model')) ?? model;
        tally.leftOut(type);
        return [];
      case 'compacted':
        return [...flush(), { kind: 'compacted', tokensBefore: input }];
      case 'event_msg':
        readEvent(payload);
        return [];
      case 'response_item':
        return readItem(payload);
      default:
        tally.unknown(type === '' ? 'line without type' : type);
        return [];
    }
  }

  return { read, end: flush };
}

function thinkingFrom(payload: unknown): ContentPart {
  const summary = property(payload, 'summary');
  const texts: readonly unknown[] = Array.isArray(summary) ? summary : [];
  const encrypted = stringOf(property(payload, 'encrypted_content'));
  const text = texts.map((part) => textFrom(property(part, 'text'))).join('\n');
  return { type: 'thinking', text, provider: 'openai', ...(encrypted !== undefined && { encrypted }) };
}

function callFrom(payload: unknown, type: string): ContentPart {
  const given = property(payload, 'arguments') ?? property(payload, 'input') ?? property(payload, 'action') ?? {};
  return {
    type: 'tool_call',
    index: 0,
    id: stringOf(property(payload, 'call_id')) ?? textFrom(property(payload, 'id')),
    name: stringOf(property(payload, 'name')) ?? type.replace(/_call$/, ''),
    // A tool of free text has no JSON: it gets the form that the Responses API knows.
    arguments: type === 'custom_tool_call' ? JSON.stringify({ input: given }) : textFrom(given),
  };
}

function toPart(block: unknown, tally: ImportTally): ContentPart {
  switch (property(block, 'type')) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textFrom(property(block, 'text')) };
    case 'input_image':
      return imageFromAddress(property(block, 'image_url')) ?? unknownBlock(block, tally);
    default:
      return unknownBlock(block, tally);
  }
}
