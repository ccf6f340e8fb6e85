import type { ContentPart } from '../../context/content.ts';
import { property } from '../../models/json.ts';
import type { ImportTally, SessionImporter, SessionRecord } from '../session-record.ts';
import { contentFrom, stringOf, textFrom, unknownBlock } from './content.ts';

const BOOKKEEPING =
  /^(?:hook\.|session\.(?!start$)|permission\.|assistant\.(?:turn_|intent|usage|reasoning)|tool\.execution_(?:start|progress|partial)|tool\.user_requested|abort$|subagent\.|skill\.)/;

/** GitHub Copilot CLI's JSONL (`~/.copilot/session-state/…/events.jsonl`): one event a line. */
export function createCopilotImporter(tally: ImportTally): SessionImporter {
  let model: string | undefined;

  function read(line: unknown): SessionRecord[] {
    const type = textFrom(property(line, 'type'));
    const data = property(line, 'data');
    switch (type) {
      case 'session.start':
        return [{ kind: 'session', id: stringOf(property(data, 'sessionId')) ?? null }];
      case 'session.compaction_complete':
        return [{ kind: 'compacted', tokensBefore: null }];
      case 'system.message':
        return [{ kind: 'instructions', text: textFrom(property(data, 'content')) }];
      case 'user.message':
      case 'system.notification': {
        const content = contentFrom(property(data, 'content'), (block) => toPart(block, tally));
        return content.length === 0 ? [] : [{ kind: 'user', content }];
      }
      case 'assistant.message':
        return readAnswer(data);
      case 'tool.execution_complete':
        return [resultFrom(data, tally)];
      default:
        if (type === 'session.model_change') model = stringOf(property(data, 'newModel')) ?? model;
        if (BOOKKEEPING.test(type)) tally.leftOut(type);
        else tally.unknown(type === '' ? 'line without type' : type);
        return [];
    }
  }

  function readAnswer(data: unknown): SessionRecord[] {
    const reasoning = stringOf(property(data, 'reasoningText'));
    const requests = property(data, 'toolRequests');
    const calls: readonly unknown[] = Array.isArray(requests) ? requests : [];
    const content: ContentPart[] = [
      ...(reasoning === undefined
        ? []
        : [{ type: 'thinking' as const, text: reasoning, provider: 'github-copilot' as const }]),
      ...contentFrom(property(data, 'content'), (block) => toPart(block, tally)),
      ...calls.map((call, index) => ({
        type: 'tool_call' as const,
        index,
        id: textFrom(property(call, 'toolCallId')),
        name: textFrom(property(call, 'name')),
        arguments: textFrom(property(call, 'arguments') ?? {}),
      })),
    ];
    if (content.length === 0) {
      tally.leftOut('empty answer');
      return [];
    }
    const named = stringOf(property(data, 'model')) ?? model;
    return [{ kind: 'assistant', content, ...(named !== undefined && { model: named }) }];
  }

  return { read, end: () => [] };
}

function resultFrom(data: unknown, tally: ImportTally): SessionRecord {
  const result = property(data, 'result');
  const output = property(result, 'content') ?? property(data, 'error', 'message') ?? result;
  return {
    kind: 'tool_result',
    callId: textFrom(property(data, 'toolCallId')),
    isError: property(data, 'success') === false,
    content: contentFrom(output, (block) => toPart(block, tally)),
  };
}

function toPart(block: unknown, tally: ImportTally): ContentPart {
  if (property(block, 'type') === 'text') return { type: 'text', text: textFrom(property(block, 'text')) };
  return unknownBlock(block, tally);
}
