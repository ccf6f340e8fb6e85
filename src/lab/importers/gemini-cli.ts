import type { ContentPart } from '../../context/content.ts';
import { numberOf, property } from '../../models/json.ts';
import type { ImportTally, RecordedUsage, SessionImporter, SessionRecord } from '../session-record.ts';
import { contentFrom, imagePart, stringOf, textFrom, unknownBlock } from './content.ts';

/** Gemini CLI's JSON document (`~/.gemini/tmp/…/chats/session-*.json`): takes one element of `messages` after another. */
export function createGeminiImporter(tally: ImportTally): SessionImporter {
  function read(message: unknown): SessionRecord[] {
    const type = textFrom(property(message, 'type'));
    const content = contentFrom(property(message, 'content'), (block) => toPart(block, tally));
    if (type === 'user') return content.length === 0 ? [] : [{ kind: 'user', content }];
    if (type === 'gemini') return readAnswer(message, content);
    if (type === 'info' || type === 'warning' || type === 'error') tally.leftOut(`message of type ${type}`);
    else tally.unknown(`message of type ${type === '' ? 'nothing' : type}`);
    return [];
  }

  function readAnswer(message: unknown, spoken: readonly ContentPart[]): SessionRecord[] {
    const made = property(message, 'toolCalls');
    const calls: readonly unknown[] = Array.isArray(made) ? made : [];
    const content: ContentPart[] = [
      ...thoughtsFrom(property(message, 'thoughts')),
      ...spoken,
      ...calls.map((call, index) => ({
        type: 'tool_call' as const,
        index,
        id: textFrom(property(call, 'id')),
        name: textFrom(property(call, 'name')),
        arguments: JSON.stringify(property(call, 'args') ?? {}),
      })),
    ];
    if (content.length === 0) {
      tally.leftOut('empty answer');
      return [];
    }
    const model = stringOf(property(message, 'model'));
    const usage = usageFrom(property(message, 'tokens'));
    const results = calls.flatMap((call) => resultFrom(call, tally));
    return [
      { kind: 'assistant', content, ...(model !== undefined && { model }), ...(usage !== undefined && { usage }) },
      ...results,
    ];
  }

  return { read, end: () => [] };
}

function thoughtsFrom(thoughts: unknown): ContentPart[] {
  const all: readonly unknown[] = Array.isArray(thoughts) ? thoughts : [];
  return all.map((thought) => ({
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
  if (typeof text === 'string') return { type: 'text', text };
  const inline = property(block, 'inlineData');
  if (inline !== undefined)
    return imagePart(textFrom(property(inline, 'mimeType')), textFrom(property(inline, 'data')));
  return unknownBlock(block, tally);
}

function usageFrom(tokens: unknown): RecordedUsage | undefined {
  const input = numberOf(property(tokens, 'input')) ?? 0;
  return input === 0 ? undefined : { input, output: numberOf(property(tokens, 'output')) ?? 0 };
}
