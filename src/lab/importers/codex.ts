import type { ContentPart } from '../../context/content.ts';
import { numberOf, property } from '../../models/json.ts';
import type { ImportTally, RecordedUsage, SessionImporter, SessionRecord } from '../session-record.ts';
import { contentFrom, imageFromAddress, stringOf, textFrom, unknownBlock } from './content.ts';
import { recordedTime } from './recorded-time.ts';

interface OpenAnswer {
  content: ContentPart[];
  usage: RecordedUsage | undefined;
  /** Of its first item. */
  readonly at: Date | undefined;
}

/**
 * Codex CLI's JSONL (`~/.codex/sessions/…/rollout-*.jsonl`). The file lists the items of the Responses
 * API without the borders of answers: a result, a message or new reasoning after calls begins the next one.
 */
export class CodexImporter implements SessionImporter {
  private open: OpenAnswer | null = null;
  private model: string | undefined;
  private input: number | null = null;
  /** Of the line that is read. */
  private time: Date | undefined;
  private hasAnswered = false;
  private readonly tally: ImportTally;

  constructor(tally: ImportTally) {
    this.tally = tally;
  }

  private flush(): SessionRecord[] {
    const answer = this.open;
    this.open = null;
    if (answer === null || answer.content.length === 0) return [];
    const { content, usage, at } = answer;
    this.hasAnswered = true;
    return [
      {
        kind: 'assistant',
        content,
        ...(this.model !== undefined && { model: this.model }),
        ...(usage !== undefined && { usage }),
        ...(at !== undefined && { at }),
      },
    ];
  }

  private add(part: ContentPart): SessionRecord[] {
    const isNext =
      this.open !== null && part.type !== 'tool_call' && this.open.content.some((other) => other.type !== 'thinking');
    const before = isNext ? this.flush() : [];
    this.open ??= { content: [], usage: undefined, at: this.time };
    const index = this.open.content.filter((other) => other.type === 'tool_call').length;
    this.open.content.push(part.type === 'tool_call' ? { ...part, index } : part);
    return before;
  }

  private readMessage(payload: unknown): SessionRecord[] {
    const content = contentFrom(property(payload, 'content'), (block) => toPart(block, this.tally));
    const role = property(payload, 'role');
    if (role === 'assistant') {
      const [first, ...rest] = content;
      return first === undefined ? [] : [...this.add(first), ...rest.flatMap((part) => this.add(part))];
    }
    if (content.length === 0) return this.flush();
    if (role !== 'user' && !this.hasAnswered && this.open === null) {
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return [{ kind: 'instructions', text }];
    }
    return [...this.flush(), { kind: 'user', content }];
  }

  private readItem(payload: unknown): SessionRecord[] {
    const type = textFrom(property(payload, 'type'));
    if (type === 'message') return this.readMessage(payload);
    if (type === 'reasoning') return this.add(thinkingFrom(payload));
    if (type.endsWith('_call')) return this.add(callFrom(payload, type));
    if (!type.endsWith('_output')) {
      this.tally.unknown(`response_item ${type}`);
      return [];
    }
    const found = property(payload, 'tools');
    const output = property(payload, 'output') ?? (found === undefined ? '' : JSON.stringify(found));
    const result: SessionRecord = {
      kind: 'tool_result',
      callId: textFrom(property(payload, 'call_id')),
      isError: property(payload, 'success') === false || property(output, 'success') === false,
      content: contentFrom(property(output, 'content') ?? output, (block) => toPart(block, this.tally)),
    };
    return [...this.flush(), result];
  }

  private readEvent(payload: unknown): void {
    const type = textFrom(property(payload, 'type'));
    this.tally.leftOut(`event_msg ${type}`);
    if (type !== 'token_count') return;
    const last = property(payload, 'info', 'last_token_usage');
    this.input = numberOf(property(last, 'input_tokens')) ?? this.input;
    if (this.open !== null && this.input !== null) {
      this.open.usage = { input: this.input, output: numberOf(property(last, 'output_tokens')) ?? 0 };
    }
  }

  read(line: unknown): SessionRecord[] {
    const payload = property(line, 'payload');
    const type = textFrom(property(line, 'type'));
    this.time = recordedTime(line);
    switch (type) {
      case 'session_meta': {
        const text = stringOf(property(payload, 'base_instructions', 'text') ?? property(payload, 'instructions'));
        const id = stringOf(property(payload, 'id')) ?? null;
        return [{ kind: 'session', id }, ...(text === undefined ? [] : [{ kind: 'instructions' as const, text }])];
      }
      case 'turn_context':
        this.model = stringOf(property(payload, 'model')) ?? this.model;
        this.tally.leftOut(type);
        return [];
      case 'compacted':
        return [...this.flush(), { kind: 'compacted', tokensBefore: this.input }];
      case 'event_msg':
        this.readEvent(payload);
        return [];
      case 'response_item':
        return this.readItem(payload);
      default:
        this.tally.unknown(type === '' ? 'line without type' : type);
        return [];
    }
  }

  end(): SessionRecord[] {
    return this.flush();
  }
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
