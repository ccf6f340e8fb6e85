import type { ContentPart } from '../../context/log/content.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { property } from '../../models/protocols/json.ts';
import { UpdateLog } from '../read/update-log.ts';
import type { FileFormat, ImportTally, SessionRecord } from '../session-record.ts';
import { Importer, listOf, contentFrom, instructionsFrom, stringOf, textFrom, unknownBlock } from './content.ts';

const BOOKKEEPING =
  /^(?:hook\.|session\.(?!start$)|permission\.|assistant\.(?:turn_|intent|usage|reasoning)|tool\.execution_(?:start|progress|partial)|tool\.user_requested|abort$|subagent\.|skill\.)/;

/** GitHub Copilot CLI's JSONL (`~/.copilot/session-state/…/events.jsonl`): one event a line. */
class CopilotImporter extends Importer {
  private model: string | undefined;
  read(line: unknown): SessionRecord[] {
    const type = textFrom(property(line, 'type'));
    const data = property(line, 'data');
    if ((stringOf(property(line, 'agentId')) ?? stringOf(property(data, 'parentToolCallId'))) !== undefined) {
      this.tally.leftOut('line of a sub-agent');
      return [];
    }
    switch (type) {
      case 'session.start':
        return [{ kind: 'session', id: stringOf(property(data, 'sessionId')) ?? null }];
      case 'session.compaction_complete':
        return [{ kind: 'compacted' }];
      case 'system.message':
        return [systemMessage(data)];
      case 'system.notification':
        return instructionsFrom(this.contentOf(data), this.tally);
      case 'user.message': {
        const content = this.contentOf(data);
        return content.length === 0 ? [] : [{ kind: 'user', content }];
      }
      case 'assistant.message':
        return this.readAnswer(data);
      case 'tool.execution_complete':
        return [resultFrom(data, this.tally)];
      default:
        if (type === 'session.model_change') this.model = stringOf(property(data, 'newModel')) ?? this.model;
        if (BOOKKEEPING.test(type)) this.tally.leftOut(type);
        else this.tally.unknown(type === '' ? 'line without type' : type);
        return [];
    }
  }

  private contentOf(data: unknown): readonly ContentPart[] {
    return contentFrom(property(data, 'content'), (block) => toPart(block, this.tally));
  }

  private readAnswer(data: unknown): SessionRecord[] {
    const reasoning = stringOf(property(data, 'reasoningText'));
    const calls = listOf(property(data, 'toolRequests'));
    const content: ContentPart[] = [
      ...(reasoning === undefined
        ? []
        : [{ type: 'thinking' as const, text: reasoning, provider: 'github-copilot' as const }]),
      ...this.contentOf(data),
      ...calls.map((call, index) => ({
        type: 'tool_call' as const,
        index,
        id: textFrom(property(call, 'toolCallId')),
        name: textFrom(property(call, 'name')),
        arguments: textFrom(property(call, 'arguments') ?? {}),
      })),
    ];
    if (content.length === 0) {
      this.tally.leftOut('empty answer');
      return [];
    }
    const model = stringOf(property(data, 'model')) ?? this.model;
    return [{ kind: 'assistant', content, ...definedOf({ model }) }];
  }
}

/** Each one is the whole prompt again, of its role and source. */
function systemMessage(data: unknown): SessionRecord {
  const slot = `${stringOf(property(data, 'role')) ?? 'system'} ${textFrom(property(data, 'name'))}`.trim();
  return { kind: 'instructions', slot, text: textFrom(property(data, 'content')) };
}

/** A message or a result that is written again takes the place of the first. */
function keyOf(line: unknown): string | undefined {
  switch (property(line, 'type')) {
    case 'assistant.message':
      return stringOf(property(line, 'data', 'messageId')) ?? stringOf(property(line, 'id'));
    case 'tool.execution_complete':
      return stringOf(property(line, 'data', 'toolCallId')) ?? stringOf(property(line, 'id'));
    default:
      return stringOf(property(line, 'id'));
  }
}

export const COPILOT_CLI: FileFormat = {
  importer: (tally) => new CopilotImporter(tally),
  arrangement: (tally) =>
    new UpdateLog(tally, (line) => {
      const key = keyOf(line);
      return { kind: 'put', ...(key !== undefined && { key }) };
    }),
};

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
