import type { ContentPart } from '../../context/log/content.ts';
import { jsonOf } from '../../context/log/nested-json.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { property } from '../../models/protocols/json.ts';
import { listedMessages } from '../read/arrangement.ts';
import { UpdateLog } from '../read/update-log.ts';
import type { Update } from '../read/update-log.ts';
import type { FileFormat, ImportTally, SessionRecord } from '../session-record.ts';
import { Importer, listOf, contentFrom, imagePart, stringOf, textFrom, unknownBlock } from './content.ts';

/**
 * Gemini CLI's files (`~/.gemini/tmp/…/chats/session-*`): a JSON document with `messages`, or lines of which later ones
 * change earlier ones. Takes one message after another, as it stands at the end.
 */
class GeminiImporter extends Importer {
  /** Calls whose result stands with the call: a history that was written back repeats it as a message. */
  private readonly answered = new Set<string>();
  read(message: unknown): SessionRecord[] {
    const type = textFrom(property(message, 'type'));
    if (type === 'user') return this.readUser(message);
    if (type === 'gemini') return this.readAnswer(message);
    if (type === 'info' || type === 'warning' || type === 'error') this.tally.leftOut(`message of type ${type}`);
    else if (property(message, '$set') !== undefined) this.tally.leftOut('$set');
    else if (isHeader(message)) return [{ kind: 'session', id: stringOf(property(message, 'sessionId')) ?? null }];
    else this.tally.unknown(`message of type ${type === '' ? 'nothing' : type}`);
    return [];
  }

  private readUser(message: unknown): SessionRecord[] {
    const given = property(message, 'content');
    const blocks: readonly unknown[] = Array.isArray(given) ? given : [given];
    const content = contentFrom(
      blocks.filter((block) => !isResponse(block)),
      (block) => toPart(block, this.tally),
    );
    const results = blocks.filter(isResponse).flatMap((block) => this.readResponse(block));
    return content.length === 0 ? results : [...results, { kind: 'user', content }];
  }

  private readResponse(block: unknown): SessionRecord[] {
    const callId = textFrom(property(block, 'functionResponse', 'id'));
    if (this.answered.has(callId)) {
      this.tally.leftOut('copy of a result');
      return [];
    }
    const isError = property(block, 'functionResponse', 'response', 'error') !== undefined;
    return [{ kind: 'tool_result', callId, isError, content: [responsePart(block, this.tally)] }];
  }

  private readAnswer(message: unknown): SessionRecord[] {
    const calls = listOf(property(message, 'toolCalls'));
    const given = property(message, 'content');
    const blocks: readonly unknown[] = Array.isArray(given) ? given : [given];
    const spoken = contentFrom(
      blocks.filter((block) => !isCall(block)),
      (block) => toPart(block, this.tally),
    );
    const known = new Set(calls.map((call) => property(call, 'id')));
    const inContent = blocks.filter((block) => isCall(block) && !known.has(property(block, 'functionCall', 'id')));
    const asked = [...calls, ...inContent.map((block) => property(block, 'functionCall'))];
    const content: ContentPart[] = [
      ...thoughtsFrom(property(message, 'thoughts')),
      ...spoken,
      ...asked.map((call, index) => ({
        type: 'tool_call' as const,
        index,
        id: textFrom(property(call, 'id')),
        name: textFrom(property(call, 'name')),
        arguments: jsonOf(property(call, 'args') ?? {}),
      })),
    ];
    if (content.length === 0) {
      this.tally.leftOut('empty answer');
      return [];
    }
    const model = stringOf(property(message, 'model'));
    const results = calls.flatMap((call) => resultFrom(call, this.tally));
    for (const result of results) if (result.kind === 'tool_result') this.answered.add(result.callId);
    return [{ kind: 'assistant', content, ...definedOf({ model }) }, ...results];
  }
}

function isResponse(block: unknown): boolean {
  return property(block, 'functionResponse') !== undefined;
}

function isCall(block: unknown): boolean {
  return property(block, 'functionCall') !== undefined;
}

function isHeader(value: unknown): boolean {
  return property(value, 'sessionId') !== undefined && property(value, 'id') === undefined;
}

/** What a line does to those before it, as Gemini CLI's `loadConversationRecord` reads them. */
function updateOf(line: unknown): Update {
  const back = stringOf(property(line, '$rewindTo'));
  if (back !== undefined) return { kind: 'take_back', from: back };
  const list = listedMessages(line);
  if (list !== null)
    return { kind: 'put_list', list: list.map((value) => ({ key: stringOf(property(value, 'id')), value })) };
  const key = stringOf(property(line, 'id'));
  if (property(line, '$set') !== undefined || isHeader(line)) return { kind: 'note' };
  return { kind: 'put', ...(key !== undefined && { key }) };
}

export const GEMINI_CLI: FileFormat = {
  importer: (tally) => new GeminiImporter(tally),
  arrangement: (tally) => new UpdateLog(tally, updateOf),
};

function thoughtsFrom(thoughts: unknown): ContentPart[] {
  return listOf(thoughts).map((thought) => ({
    type: 'thinking',
    text: `${textFrom(property(thought, 'subject'))}\n${textFrom(property(thought, 'description'))}`,
    provider: 'google',
  }));
}

/** A call that was cancelled or is still waiting has no result. */
function resultFrom(call: unknown, tally: ImportTally): SessionRecord[] {
  const result = property(call, 'result') ?? property(call, 'resultDisplay');
  if (result === undefined || result === null) return [];
  const pieces: readonly unknown[] = Array.isArray(result) ? result : [result];
  return [
    {
      kind: 'tool_result',
      callId: textFrom(property(call, 'id')),
      isError: property(call, 'status') === 'error',
      content: contentFrom(pieces, (piece) => responsePart(piece, tally)),
    },
  ];
}

function responsePart(piece: unknown, tally: ImportTally): ContentPart {
  const response = property(piece, 'functionResponse', 'response');
  if (response === undefined) return toPart(piece, tally);
  return { type: 'text', text: textFrom(property(response, 'output') ?? property(response, 'error') ?? response) };
}

function toPart(block: unknown, tally: ImportTally): ContentPart {
  const text = property(block, 'text');
  if (typeof text === 'string' && property(block, 'thought') === true) {
    return { type: 'thinking', text, provider: 'google' };
  }
  if (typeof text === 'string') return { type: 'text', text };
  const inline = property(block, 'inlineData');
  if (inline !== undefined)
    return imagePart(textFrom(property(inline, 'mimeType')), textFrom(property(inline, 'data')));
  return unknownBlock(block, tally);
}
