import type { ContentPart } from '../../context/log/content.ts';
import { jsonOf } from '../../context/log/nested-json.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { property } from '../../models/protocols/json.ts';
import { NO_TREE_LINE, TranscriptTree } from '../read/transcript-tree.ts';
import type { TreeLine } from '../read/transcript-tree.ts';
import type { FileFormat, ImportTally, SessionRecord } from '../session-record.ts';
import { recordedTime } from './recorded-time.ts';
import { Importer, contentFrom, imagePart, stringOf, textFrom, unknownBlock } from './content.ts';

const SETTINGS = new Set(['model_change', 'thinking_level_change', 'session_info', 'label', 'custom']);

/** pi's JSONL (`~/.pi/agent/sessions/…`): one message a line. */
class PiImporter extends Importer {
  private readMessage(message: unknown): SessionRecord[] {
    const role = textFrom(property(message, 'role'));
    const content = contentFrom(property(message, 'content'), (block) => toPart(block, message, this.tally));
    switch (role) {
      case 'user':
        return content.length === 0 ? [] : [{ kind: 'user', content }];
      case 'assistant':
        return this.readAnswer(message, content);
      case 'toolResult': {
        const callId = textFrom(property(message, 'toolCallId'));
        return [{ kind: 'tool_result', callId, isError: property(message, 'isError') === true, content }];
      }
      case 'bashExecution': {
        const text = `$ ${textFrom(property(message, 'command'))}\n${textFrom(property(message, 'output'))}`;
        return [{ kind: 'user', content: [{ type: 'text', text }] }];
      }
      default:
        this.tally.unknown(`message of ${role === '' ? 'nobody' : role}`);
        return [];
    }
  }

  private readAnswer(message: unknown, content: readonly ContentPart[]): SessionRecord[] {
    if (content.length === 0) {
      this.tally.leftOut(`empty answer (${textFrom(property(message, 'stopReason'))})`);
      return [];
    }
    let calls = 0;
    const numbered = content.map((part) => (part.type === 'tool_call' ? { ...part, index: calls++ } : part));
    const model = stringOf(property(message, 'model'));
    return [
      {
        kind: 'assistant',
        content: numbered,
        ...definedOf({ model }),
      },
    ];
  }

  read(line: unknown): SessionRecord[] {
    const type = textFrom(property(line, 'type'));
    switch (type) {
      case 'session':
        return [{ kind: 'session', id: stringOf(property(line, 'id')) ?? null }];
      case 'message':
        return this.readMessage(property(line, 'message'));
      case 'custom_message': {
        const content = contentFrom(property(line, 'content'), (block) => toPart(block, line, this.tally));
        return content.length === 0 ? [] : [{ kind: 'user', content }];
      }
      case 'compaction':
        this.tally.leftOut('summary of a compaction');
        return [{ kind: 'compacted' }];
      case 'branch_summary':
        this.tally.leftOut('summary of a branch');
        return [];
      default:
        if (SETTINGS.has(type)) this.tally.leftOut(type);
        else this.tally.unknown(type === '' ? 'line without type' : type);
        return [];
    }
  }
}

/** Each line but the header is a node; those of version 1 have no ids and follow each other. pi goes on at the newest, whatever it is. */
function treeLine(line: unknown): TreeLine {
  const isBeginning = property(line, 'type') === 'session';
  const parent = property(line, 'parentId');
  return {
    ...NO_TREE_LINE,
    id: isBeginning ? null : (stringOf(property(line, 'id')) ?? null),
    parentId: isBeginning || parent === null ? null : stringOf(parent),
    isPart: !isBeginning,
    isBeginning,
    time: recordedTime(line)?.getTime(),
  };
}

export const PI: FileFormat = {
  importer: (tally) => new PiImporter(tally),
  arrangement: (tally) => new TranscriptTree(tally, treeLine),
};

function toPart(block: unknown, message: unknown, tally: ImportTally): ContentPart {
  switch (property(block, 'type')) {
    case 'text':
      return { type: 'text', text: textFrom(property(block, 'text')) };
    case 'thinking': {
      const signature = stringOf(property(block, 'thinkingSignature'));
      return {
        type: 'thinking',
        text: textFrom(property(block, 'thinking')),
        provider: stringOf(property(message, 'provider')) ?? 'unknown',
        ...definedOf({ signature }),
      };
    }
    case 'toolCall':
      return {
        type: 'tool_call',
        index: 0,
        id: textFrom(property(block, 'id')),
        name: textFrom(property(block, 'name')),
        arguments: jsonOf(property(block, 'arguments') ?? {}),
      };
    case 'image':
      return imagePart(textFrom(property(block, 'mimeType')), textFrom(property(block, 'data')));
    default:
      return unknownBlock(block, tally);
  }
}
