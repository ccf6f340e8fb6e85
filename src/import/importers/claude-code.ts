import type { ContentPart } from '../../context/log/content.ts';
import { jsonOf } from '../../context/log/nested-json.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { property } from '../../models/protocols/json.ts';
import { NO_TREE_LINE, TranscriptTree } from '../read/transcript-tree.ts';
import type { TreeLine } from '../read/transcript-tree.ts';
import type { FileFormat, ImportTally, SessionRecord } from '../session-record.ts';
import { Importer, listOf, contentFrom, imagePart, stringOf, textFrom, unknownBlock } from './content.ts';
import { recordedTime, withTime } from './recorded-time.ts';

interface OpenAnswer {
  readonly id: string | undefined;
  content: ContentPart[];
  readonly model: string | undefined;
  /** Of its first line: its results come after. */
  readonly at: Date | undefined;
  /** Results that arrived between the lines of the answer. */
  readonly results: SessionRecord[];
}

/** Lines beside the conversation: what the program notes for itself, or copies of what other lines say. */
const BOOKKEEPING = new Set([
  'file-history-snapshot',
  'queue-operation',
  'progress',
  'permission-mode',
  'last-prompt',
  'pr-link',
  'summary',
  'custom-title',
  'ai-title',
  'agent-name',
]);

/**
 * Claude Code's JSONL (`~/.claude/projects/…`). One answer of the API is spread over several lines
 * with one message id, results between them. Lines of sub-agents (`isSidechain`) are other
 * conversations and left out, as is the summary after a compaction.
 */
class ClaudeCodeImporter extends Importer {
  private open: OpenAnswer | null = null;
  private named = false;
  private flush(): SessionRecord[] {
    const answer = this.open;
    this.open = null;
    if (answer === null) return [];
    const { content, model, at, results } = answer;
    if (content.length === 0) return results;
    return [
      {
        kind: 'assistant',
        content,
        ...definedOf({ model, at }),
      },
      ...results,
    ];
  }

  private readAssistant(message: unknown, at: Date | undefined): SessionRecord[] {
    const id = stringOf(property(message, 'id'));
    const parts = contentFrom(property(message, 'content'), (block) => toPart(block, this.tally));
    const before = this.open !== null && this.open.id === id && id !== undefined ? [] : this.flush();
    const model = stringOf(property(message, 'model'));
    this.open ??= { id, content: [], model, at, results: [] };
    for (const part of parts) {
      this.open.content.push(part.type === 'tool_call' ? { ...part, index: callCount(this.open.content) } : part);
    }
    return before;
  }

  private readUser(content: unknown, at: Date | undefined): SessionRecord[] {
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
    const results = withTime(
      blocks.filter(isToolResult).map((block) => resultFrom(block, this.tally)),
      at,
    );
    const said = contentFrom(
      blocks.filter((block) => !isToolResult(block)),
      (block) => toPart(block, this.tally),
    );
    if (said.length === 0 && this.open !== null) {
      this.open.results.push(...results);
      return [];
    }
    const message: SessionRecord[] = said.length > 0 ? [{ kind: 'user', content: said }] : [];
    return [...this.flush(), ...results, ...message];
  }

  read(line: unknown): SessionRecord[] {
    const records = this.readLine(line);
    const id = stringOf(property(line, 'sessionId'));
    if (this.named || id === undefined) return records;
    this.named = true;
    return [{ kind: 'session', id }, ...records];
  }

  private readLine(line: unknown): SessionRecord[] {
    const type = textFrom(property(line, 'type'));
    if (property(line, 'isSidechain') === true) {
      this.tally.leftOut('line of a sub-agent');
      return [];
    }
    switch (type) {
      case 'assistant':
        return this.readAssistant(property(line, 'message'), recordedTime(line));
      case 'user':
        if (property(line, 'isCompactSummary') === true) {
          this.tally.leftOut('summary of a compaction');
          return this.flush();
        }
        return this.readUser(property(line, 'message', 'content'), recordedTime(line));
      case 'system':
        return this.readSystem(line);
      case 'attachment':
        return this.readAttachment(property(line, 'attachment'), recordedTime(line));
      default:
        if (BOOKKEEPING.has(type)) this.tally.leftOut(type);
        else this.tally.unknown(type === '' ? 'line without type' : type);
        return [];
    }
  }

  private readSystem(line: unknown): SessionRecord[] {
    const subtype = textFrom(property(line, 'subtype'));
    if (subtype === 'compact_boundary') {
      return [...this.flush(), { kind: 'compacted' }];
    }
    this.tally.leftOut(`system ${subtype}`);
    return [];
  }

  /** Of what the program attaches only a message that waited in the queue was said by somebody. */
  private readAttachment(attachment: unknown, at: Date | undefined): SessionRecord[] {
    const type = textFrom(property(attachment, 'type'));
    const prompt = property(attachment, 'prompt');
    if (type === 'queued_command' && prompt !== undefined) return this.readUser(prompt, at);
    this.tally.leftOut(`attachment ${type}`);
    return [];
  }

  override end(): SessionRecord[] {
    return this.flush();
  }
}

/** What the next one follows: a message, a result, or one that waited in the queue. */
function treeLine(line: unknown): TreeLine {
  const type = property(line, 'type');
  const isBoundary = property(line, 'subtype') === 'compact_boundary';
  const isPart =
    isBoundary ||
    type === 'user' ||
    type === 'assistant' ||
    (type === 'attachment' && property(line, 'attachment', 'type') === 'queued_command');
  const content = property(line, 'message', 'content');
  const blocks = listOf(content);
  const idsOf = (name: string): string[] => blocks.flatMap((block) => stringOf(property(block, name)) ?? []);
  return {
    ...NO_TREE_LINE,
    id: stringOf(property(line, 'uuid')) ?? null,
    parentId: parentOf(line, isBoundary),
    isPart,
    isAside: property(line, 'isSidechain') === true,
    time: recordedTime(line)?.getTime(),
    answerId: type === 'assistant' ? stringOf(property(line, 'message', 'id')) : undefined,
    calls: type === 'assistant' ? idsOf('id') : [],
    results: type === 'user' ? idsOf('tool_use_id') : [],
  };
}

/** A compaction begins a new chain, and names the line that it follows apart. */
function parentOf(line: unknown, isBoundary: boolean): string | null | undefined {
  const parent = property(line, 'parentUuid');
  const logical = stringOf(property(line, 'logicalParentUuid'));
  return stringOf(parent) ?? logical ?? (parent === null && !isBoundary ? null : undefined);
}

export const CLAUDE_CODE: FileFormat = {
  importer: (tally) => new ClaudeCodeImporter(tally),
  arrangement: (tally) => new TranscriptTree(tally, treeLine),
};

function callCount(content: readonly ContentPart[]): number {
  return content.filter((part) => part.type === 'tool_call').length;
}

function isToolResult(block: unknown): boolean {
  return property(block, 'type') === 'tool_result';
}

function resultFrom(block: unknown, tally: ImportTally): SessionRecord {
  return {
    kind: 'tool_result',
    callId: textFrom(property(block, 'tool_use_id')),
    isError: property(block, 'is_error') === true,
    content: contentFrom(property(block, 'content'), (inner) => toPart(inner, tally)),
  };
}

function toPart(block: unknown, tally: ImportTally): ContentPart {
  const source = property(block, 'source');
  switch (property(block, 'type')) {
    case 'text':
      return { type: 'text', text: textFrom(property(block, 'text')) };
    case 'thinking': {
      const signature = stringOf(property(block, 'signature'));
      const text = textFrom(property(block, 'thinking'));
      return { type: 'thinking', text, provider: 'anthropic', ...definedOf({ signature }) };
    }
    case 'redacted_thinking':
      return { type: 'thinking', text: '', provider: 'anthropic', encrypted: textFrom(property(block, 'data')) };
    case 'tool_use':
      return {
        type: 'tool_call',
        index: 0,
        id: textFrom(property(block, 'id')),
        name: textFrom(property(block, 'name')),
        arguments: jsonOf(property(block, 'input') ?? {}),
      };
    case 'image':
      if (property(source, 'type') === 'base64') {
        return imagePart(textFrom(property(source, 'media_type')), textFrom(property(source, 'data')));
      }
      return unknownBlock(block, tally);
    case 'document':
      if (property(source, 'type') === 'base64') {
        return {
          type: 'file',
          mediaType: textFrom(property(source, 'media_type')),
          name: stringOf(property(block, 'title')) ?? 'document',
          data: textFrom(property(source, 'data')),
          pages: 1,
        };
      }
      return unknownBlock(block, tally);
    default:
      return unknownBlock(block, tally);
  }
}
