/** Entries of the log and events of the timeline as ACP's updates. Pure. */
import { resolve } from 'node:path';
import type { ContentBlock, SessionUpdate, StopReason, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { textOf } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import type { OpenedEntry, StoredSummary, TimelineEvent } from '../../client/types.ts';
import type { TurnOutcome } from '../../turn/turn-reference.ts';

const KINDS: Readonly<Record<string, ToolKind>> = {
  list_files: 'read',
  read_file: 'read',
  recall_open: 'read',
  search_files: 'search',
  recall_search: 'search',
  write_file: 'edit',
  edit_file: 'edit',
  run_command: 'execute',
  update_plan: 'think',
  pin: 'think',
  remember: 'think',
  forget: 'think',
};

const PLAN_STATES = { open: 'pending', in_progress: 'in_progress', done: 'completed' } as const;

const planItem = z
  .object({ text: z.string(), state: z.enum(['open', 'in_progress', 'done']) })
  .transform(({ text, state }) => ({ content: text, priority: 'medium' as const, status: PLAN_STATES[state] }));
const plan = z.object({ items: z.array(planItem) });

/** Characters of the argument that a title shows. */
const TITLE_CHARACTERS = 80;

export type ToldEntry = Pick<OpenedEntry, 'kind' | 'turnId' | 'callNumber' | 'callIndex' | 'content' | 'isError'>;

/** What an entry says beside the words of an answer, which may have been shown live. */
export function entryUpdates(entry: ToldEntry, workspace: string): SessionUpdate[] {
  const { kind, turnId, callNumber, callIndex, content, isError } = entry;
  switch (kind) {
    case 'user':
      return content.flatMap(toBlock).map((block) => ({ sessionUpdate: 'user_message_chunk', content: block }));
    case 'assistant':
      return content.flatMap((part): SessionUpdate[] => {
        if (part.type !== 'tool_call') return [];
        const { toolCallId, ...call } = describeCall({ ...part, turnId, callNumber, callIndex: part.index }, workspace);
        const planned = part.name === 'update_plan' ? planUpdates(call.rawInput) : [];
        return [{ sessionUpdate: 'tool_call', toolCallId, status: 'in_progress', ...call }, ...planned];
      });
    case 'tool_result': {
      const blocks = content.flatMap(toBlock).map((block) => ({ type: 'content' as const, content: block }));
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: callId({ turnId, callNumber, callIndex }),
          status: isError ? 'failed' : 'completed',
          rawOutput: textOf(content),
          // What was shown of the call, a diff, stays unless there is an error to read.
          ...(isError && { content: blocks }),
        },
      ];
    }
    default:
      return [];
  }
}

interface CallPlace {
  readonly turnId: string;
  readonly callNumber: number | null;
  readonly callIndex: number | null;
}

export function describeCall(
  { name, arguments: json, ...place }: CallPlace & { readonly name: string; readonly arguments: string },
  workspace: string,
) {
  const rawInput = parsed(json);
  const { path, command, pattern, query, question } = rawInput;
  const subject = [path, command, pattern, query, question].find(isText) ?? '';
  const file = isText(path) ? resolve(workspace, path) : null;
  return {
    toolCallId: callId(place),
    rawInput,
    title: `${name} ${subject.slice(0, TITLE_CHARACTERS)}`.trimEnd(),
    name,
    kind: KINDS[name] ?? 'other',
    locations: file === null ? [] : [{ path: file }],
    content: file === null ? [] : diffOf(name, file, rawInput),
  };
}

/** Arguments as the model wrote them. What is no JSON has a result that says so. */
export function parsed(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export function textUpdate(sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk', text: string): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}

function callId({ turnId, callNumber, callIndex }: CallPlace): string {
  return `${turnId}:${callNumber}.${callIndex}`;
}

function toBlock(part: ContentPart): ContentBlock[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  if (part.type === 'image') return [{ type: 'image', mimeType: part.mediaType, data: part.data }];
  return part.type === 'file' ? [{ type: 'text', text: `[file ${part.name}]` }] : [];
}

function diffOf(name: string, path: string, input: Readonly<Record<string, unknown>>): ToolCallContent[] {
  const { content, append, old_text: oldText, new_text: newText } = input;
  if (name === 'write_file' && isText(content) && append !== true) return [{ type: 'diff', path, newText: content }];
  if (name === 'edit_file' && isText(oldText) && isText(newText)) return [{ type: 'diff', path, oldText, newText }];
  return [];
}

function planUpdates(input: Readonly<Record<string, unknown>>): SessionUpdate[] {
  const entries = plan.safeParse(input).data?.items;
  return entries === undefined ? [] : [{ sessionUpdate: 'plan', entries }];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Of the outcomes that ACP has a word for; the others are told in words too. */
export const STOP_REASONS: Partial<Record<TurnOutcome, StopReason>> = {
  completed: 'end_turn',
  stopped: 'cancelled',
  refused: 'refusal',
  budget_exhausted: 'max_turn_requests',
  context_exhausted: 'max_tokens',
};

/** A compaction for an editor that has no way to show one. */
export function compactionSentence({ tokensBefore, tokensAfter }: StoredSummary): SessionUpdate {
  const sizes = `${tokensBefore.toLocaleString('en')} to ${tokensAfter.toLocaleString('en')} tokens`;
  return textUpdate('agent_thought_chunk', `The context was compacted from ${sizes}.\n`);
}

export function waitSentence(wait: TimelineEvent<'turn_waiting'>['data']): SessionUpdate {
  const text =
    wait.reason === 'no_worker'
      ? `No worker has the ${wait.needs} ${wait.name} so far.`
      : `The turn waits ${Math.ceil(wait.delayMilliseconds / 1_000)} s for ${wait.provider}: ${wait.reason.replaceAll('_', ' ')}.`;
  return textUpdate('agent_thought_chunk', `${text}\n`);
}
