/** Entries of the log as ACP's updates. Pure. */
import { resolve } from 'node:path';
import type { ContentBlock, SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import { textOf } from '../../context/log/content.ts';
import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import type { OpenedEntry } from '../../client/types.ts';

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

/** Characters of the argument that a title shows. */
const TITLE_CHARACTERS = 80;

export type EntryOfAnswer = Pick<OpenedEntry, 'kind' | 'turnId' | 'callNumber' | 'callIndex' | 'content' | 'isError'>;

/** Names a tool call in its conversation. */
export function toolCallId(turnId: string, callNumber: number | null, callIndex: number | null): string {
  return `${turnId}:${callNumber}.${callIndex}`;
}

/** An entry whole, as when a session is loaded. Notes and markers are told otherwise. */
export function entryUpdates(entry: EntryOfAnswer, workspace: string): SessionUpdate[] {
  switch (entry.kind) {
    case 'user':
      return entry.content.flatMap((part) => chunk('user_message_chunk', part));
    case 'assistant':
      return [
        ...entry.content.flatMap((part) => {
          if (part.type === 'thinking') return chunk('agent_thought_chunk', { type: 'text', text: part.text });
          return chunk('agent_message_chunk', part);
        }),
        ...callUpdates(entry, workspace),
      ];
    case 'tool_result':
      return [resultUpdate(entry)];
    default:
      return [];
  }
}

/** The tool calls of an answer, and its plan if it makes one. */
export function callUpdates(
  { turnId, callNumber, content }: Pick<EntryOfAnswer, 'turnId' | 'callNumber' | 'content'>,
  workspace: string,
): SessionUpdate[] {
  return content.flatMap((part): SessionUpdate[] => {
    if (part.type !== 'tool_call') return [];
    const input = parsed(part);
    const plan = part.name === 'update_plan' ? planUpdate(input) : [];
    return [
      {
        sessionUpdate: 'tool_call',
        toolCallId: toolCallId(turnId, callNumber, part.index),
        status: 'in_progress',
        rawInput: input,
        ...describeCall(part.name, input, workspace),
      },
      ...plan,
    ];
  });
}

/** What a call does, for people. */
export function describeCall(name: string, input: Readonly<Record<string, unknown>>, workspace: string) {
  const { path } = input;
  const subject = [path, input['command'], input['pattern'], input['query'], input['question']].find(isText) ?? '';
  return {
    title: `${name} ${subject.slice(0, TITLE_CHARACTERS)}`.trimEnd(),
    name,
    kind: KINDS[name] ?? 'other',
    locations: isText(path) ? [{ path: resolve(workspace, path) }] : [],
    content: isText(path) ? diffOf(name, resolve(workspace, path), input) : [],
  };
}

export function parsed({ arguments: json }: Pick<ToolCallPart, 'arguments'>): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json === '' ? '{}' : json);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // The model wrote no JSON: the result of the call says so.
    return {};
  }
}

export function textUpdate(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}

function chunk(sessionUpdate: Parameters<typeof textUpdate>[0], part: ContentPart): SessionUpdate[] {
  const block = toBlock(part);
  return block === null ? [] : [{ sessionUpdate, content: block }];
}

function toBlock(part: ContentPart): ContentBlock | null {
  if (part.type === 'text') return part.text === '' ? null : { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image', mimeType: part.mediaType, data: part.data };
  return part.type === 'file' ? { type: 'text', text: `[file ${part.name}]` } : null;
}

function resultUpdate({ turnId, callNumber, callIndex, content, isError }: EntryOfAnswer): SessionUpdate {
  const blocks = content.flatMap((part) => toBlock(part) ?? []);
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: toolCallId(turnId, callNumber, callIndex),
    status: isError ? 'failed' : 'completed',
    // What was shown of the call, a diff, stays unless there is an error to read.
    ...((isError || textOf(content) !== '') && { rawOutput: textOf(content) }),
    ...(isError && { content: blocks.map((block) => ({ type: 'content' as const, content: block })) }),
  };
}

function diffOf(name: string, path: string, input: Readonly<Record<string, unknown>>): ToolCallContent[] {
  const { content, append, old_text: oldText, new_text: newText } = input;
  if (name === 'write_file' && isText(content) && append !== true) return [{ type: 'diff', path, newText: content }];
  if (name === 'edit_file' && isText(oldText) && isText(newText)) return [{ type: 'diff', path, oldText, newText }];
  return [];
}

function planUpdate({ items }: Readonly<Record<string, unknown>>): SessionUpdate[] {
  if (!Array.isArray(items)) return [];
  const entries = items.flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null) return [];
    const { text, state }: { text?: unknown; state?: unknown } = item;
    if (!isText(text) || (state !== 'open' && state !== 'in_progress' && state !== 'done')) return [];
    return [{ content: text, priority: 'medium' as const, status: PLAN_STATES[state] }];
  });
  return [{ sessionUpdate: 'plan', entries }];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
