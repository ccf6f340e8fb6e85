import type { ContentPart } from '../../context/log/content.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { property } from '../../models/protocols/json.ts';
import type { ImportTally, SessionRecord } from '../session-record.ts';
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
import { recordedTime, withTime } from './recorded-time.ts';

/**
 * Message lists of the Chat Completions API: takes a message, or a conversation with its `messages`
 * (a line of a fine-tuning or evaluation file), which begins a session of its own.
 */
export class OpenAiImporter extends Importer {
  private calls = 0;
  private legacyCall = '';
  private readConversation(value: unknown, messages: readonly unknown[]): SessionRecord[] {
    const id = property(value, 'id') ?? property(value, 'task_id');
    const begin: SessionRecord = { kind: 'session', id: id === undefined ? null : textFrom(id) };
    return [begin, ...messages.flatMap((message) => withTime(this.readMessage(message), recordedTime(message)))];
  }

  private readMessage(message: unknown): SessionRecord[] {
    const role = textFrom(property(message, 'role'));
    const content = contentFrom(property(message, 'content'), (block) => toPart(block, this.tally));
    switch (role) {
      case 'system':
      case 'developer':
        return instructionsFrom(content, this.tally);
      case 'user':
        return content.length === 0 ? [] : [{ kind: 'user', content }];
      case 'assistant':
        return this.readAnswer(message, content);
      case 'tool':
        return [{ kind: 'tool_result', callId: textFrom(property(message, 'tool_call_id')), isError: false, content }];
      case 'function':
        return [{ kind: 'tool_result', callId: this.legacyCall, isError: false, content }];
      default:
        this.tally.unknown(`message of ${role === '' ? 'nobody' : role}`);
        return [];
    }
  }

  private readAnswer(message: unknown, spoken: readonly ContentPart[]): SessionRecord[] {
    const tools = listOf(property(message, 'tool_calls'));
    const reasoning = stringOf(property(message, 'reasoning_content'));
    const content: ContentPart[] = [
      ...(reasoning === undefined ? [] : [{ type: 'thinking' as const, text: reasoning, provider: 'openai' }]),
      ...spoken,
      ...refusalOf(message),
      ...tools.map((call, index) => callFrom(call, index)),
      ...this.legacyCallOf(message, tools.length),
    ];
    if (content.length === 0) {
      this.tally.leftOut('empty answer');
      return [];
    }
    const model = stringOf(property(message, 'model'));
    return [{ kind: 'assistant', content, ...definedOf({ model }) }];
  }

  /** Before tools had ids: one call an answer, answered by the next message of role `function`. */
  private legacyCallOf(message: unknown, index: number): ContentPart[] {
    const call = property(message, 'function_call');
    if (call === undefined || call === null) return [];
    this.calls += 1;
    this.legacyCall = `function-call-${this.calls}`;
    const { name, arguments: text } = functionOf(call);
    return [{ type: 'tool_call', index, id: this.legacyCall, name, arguments: text }];
  }

  read(value: unknown): SessionRecord[] {
    const messages = property(value, 'messages') ?? property(value, 'traj');
    return Array.isArray(messages) ? this.readConversation(value, messages) : this.readMessage(value);
  }
}

function refusalOf(message: unknown): ContentPart[] {
  const refusal = stringOf(property(message, 'refusal'));
  return refusal === undefined ? [] : [{ type: 'text', text: refusal }];
}

function functionOf(call: unknown): { readonly name: string; readonly arguments: string } {
  return { name: textFrom(property(call, 'name')), arguments: textFrom(property(call, 'arguments') ?? {}) };
}

function callFrom(call: unknown, index: number): ContentPart {
  const id = textFrom(property(call, 'id'));
  return { type: 'tool_call', index, id, ...functionOf(property(call, 'function') ?? property(call, 'custom')) };
}

function toPart(block: unknown, tally: ImportTally): ContentPart {
  switch (property(block, 'type')) {
    case 'text':
      return { type: 'text', text: textFrom(property(block, 'text')) };
    case 'refusal':
      return { type: 'text', text: textFrom(property(block, 'refusal')) };
    case 'image_url': {
      const address = property(block, 'image_url', 'url') ?? property(block, 'image_url');
      return imageFromAddress(address) ?? unknownBlock(block, tally);
    }
    default:
      return unknownBlock(block, tally);
  }
}
