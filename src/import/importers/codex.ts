import type { ContentPart } from '../../context/log/content.ts';
import { jsonOf } from '../../context/log/nested-json.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { numberOf, property } from '../../models/protocols/json.ts';
import { UpdateLog } from '../read/update-log.ts';
import type { Update } from '../read/update-log.ts';
import type { FileFormat, ImportTally, SessionRecord } from '../session-record.ts';
import {
  Importer,
  listOf,
  contentFrom,
  imageFromAddress,
  instructionsFrom,
  stringOf,
  textFrom,
  unknownBlock,
} from './content.ts';
import { recordedTime } from './recorded-time.ts';

interface OpenAnswer {
  content: ContentPart[];
  /** Of its first item. */
  readonly at: Date | undefined;
}

/**
 * Codex CLI's JSONL (`~/.codex/sessions/…/rollout-*.jsonl`). The file lists the items of the Responses
 * API without the borders of answers: a result, a message or new reasoning after calls begins the next one.
 */
class CodexImporter extends Importer {
  private open: OpenAnswer | null = null;
  private model: string | undefined;
  /** Of the line that is read. */
  private time: Date | undefined;
  /** Something was said since the session's first line. */
  private hasBegun = false;
  private sessions = 0;
  private flush(): SessionRecord[] {
    const answer = this.open;
    this.open = null;
    if (answer === null || answer.content.length === 0) return [];
    const { content, at } = answer;
    return [
      {
        kind: 'assistant',
        content,
        ...definedOf({ model: this.model, at }),
      },
    ];
  }

  private add(part: ContentPart): SessionRecord[] {
    const isNext =
      this.open !== null && part.type !== 'tool_call' && this.open.content.some((other) => other.type !== 'thinking');
    const before = isNext ? this.flush() : [];
    this.open ??= { content: [], at: this.time };
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
    if (role !== 'user') return [...this.flush(), ...instructionsFrom(content, this.tally)];
    return [...this.flush(), { kind: 'user', content }];
  }

  private readItem(payload: unknown): SessionRecord[] {
    const type = textFrom(property(payload, 'type'));
    this.hasBegun = true;
    if (type === 'message') return this.readMessage(payload);
    if (type === 'reasoning') return this.add(thinkingFrom(payload));
    if (type.endsWith('_call')) return this.add(callFrom(payload, type));
    if (!type.endsWith('_output')) {
      this.tally.unknown(`response_item ${type}`);
      return [];
    }
    const found = property(payload, 'tools');
    const output = property(payload, 'output') ?? (found === undefined ? '' : jsonOf(found));
    const result: SessionRecord = {
      kind: 'tool_result',
      callId: textFrom(property(payload, 'call_id')),
      isError: property(payload, 'success') === false || property(output, 'success') === false,
      content: contentFrom(property(output, 'content') ?? output, (block) => toPart(block, this.tally)),
    };
    return [...this.flush(), result];
  }

  /** A forked file begins with its own line and those of the files that it comes from. */
  private readMeta(payload: unknown): SessionRecord[] {
    if (this.sessions > 0 && !this.hasBegun) {
      this.tally.leftOut('session_meta of the file that it was forked from');
      return [];
    }
    this.sessions += 1;
    this.hasBegun = false;
    const text = stringOf(property(payload, 'base_instructions', 'text') ?? property(payload, 'instructions'));
    const id = stringOf(property(payload, 'id')) ?? null;
    const begin: SessionRecord[] = [...this.flush(), { kind: 'session', id }];
    return text === undefined ? begin : [...begin, { kind: 'instructions', slot: 'base', text }];
  }

  /** What replaces the history holds summaries; a file that begins with it has nothing else. */
  private readCompacted(payload: unknown): SessionRecord[] {
    const history = property(payload, 'replacement_history');
    const items = this.hasBegun ? [] : listOf(history);
    return [...this.flush(), ...items.flatMap((item) => this.readItem(item)), { kind: 'compacted' }];
  }

  read(line: unknown): SessionRecord[] {
    const payload = property(line, 'payload');
    const type = textFrom(property(line, 'type'));
    this.time = recordedTime(line);
    switch (type) {
      case 'session_meta':
        return this.readMeta(payload);
      case 'turn_context':
        this.model = stringOf(property(payload, 'model')) ?? this.model;
        this.tally.leftOut(type);
        return [];
      case 'compacted':
        return this.readCompacted(payload);
      case 'event_msg':
        this.tally.leftOut(`event_msg ${textFrom(property(payload, 'type'))}`);
        return [];
      case 'response_item':
        return this.readItem(payload);
      default:
        this.tally.unknown(type === '' ? 'line without type' : type);
        return [];
    }
  }

  override end(): SessionRecord[] {
    return this.flush();
  }
}

/** `content` is the reasoning itself, of models that show it. */
function thinkingFrom(payload: unknown): ContentPart {
  const texts = [...listOf(property(payload, 'summary')), ...listOf(property(payload, 'content'))];
  const encrypted = stringOf(property(payload, 'encrypted_content'));
  const text = texts.map((part) => textFrom(property(part, 'text'))).join('\n');
  return { type: 'thinking', text, provider: 'openai', ...definedOf({ encrypted }) };
}

function callFrom(payload: unknown, type: string): ContentPart {
  const given = property(payload, 'arguments') ?? property(payload, 'input') ?? property(payload, 'action') ?? {};
  return {
    type: 'tool_call',
    index: 0,
    id: stringOf(property(payload, 'call_id')) ?? textFrom(property(payload, 'id')),
    name: stringOf(property(payload, 'name')) ?? type.replace(/_call$/, ''),
    // A tool of free text has no JSON: it gets the form that the Responses API knows.
    arguments: type === 'custom_tool_call' ? jsonOf({ input: given }) : textFrom(given),
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

/** What the program says in the role of the user: the surroundings, files of instructions, that the turn was aborted. */
const OF_THE_PROGRAM = /^\s*(?:<([\w -]+)>[\s\S]*<\/\1>\s*$|# AGENTS\.md instructions)/u;

/** Rolling back takes the newest messages of the user away, with all that followed. */
function updateOf(line: unknown): Update {
  const payload = property(line, 'payload');
  const type = property(payload, 'type');
  if (type === 'thread_rolled_back') {
    return { kind: 'take_back_turns', turns: numberOf(property(payload, 'num_turns')) ?? 1 };
  }
  const callId = stringOf(property(payload, 'call_id'));
  const id = stringOf(property(payload, 'id'));
  const key = callId === undefined ? id : `${textFrom(type)} ${callId}`;
  const isItem = property(line, 'type') === 'response_item';
  const beginsTurn = isItem && type === 'message' && property(payload, 'role') === 'user' && !isOfProgram(payload);
  return { kind: 'put', beginsTurn, ...(isItem && key !== undefined && { key }) };
}

function isOfProgram(payload: unknown): boolean {
  const [first] = contentFrom(property(payload, 'content'), (block) => ({
    type: 'text',
    text: textFrom(property(block, 'text')),
  }));
  return first?.type === 'text' && OF_THE_PROGRAM.test(first.text);
}

export const CODEX: FileFormat = {
  importer: (tally) => new CodexImporter(tally),
  arrangement: (tally) => new UpdateLog(tally, updateOf),
};
