import { randomUUID } from 'node:crypto';
import type Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';

type Messages = Anthropic.MessageParam[];

/** What an agent is told behind a compaction. */
export const GO_ON = '[Context compacted]\nThe context was compacted to make room. Continue where you left off.';

/** An agent's world: files, the originals of all results, and the messages of its context. */
export interface World {
  readonly files: Map<string, string>;
  readonly originals: { readonly id: string; readonly text: string }[];
  readonly messages: Messages;
  /** Calls that the model made, in order. */
  readonly calls: { readonly name: string; readonly input: Record<string, unknown> }[];
  /** Text of the final answer. */
  answer: string;
  readonly linesPerPage: number;
}

function schema(...names: readonly string[]): Anthropic.Tool.InputSchema {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

const READ: Anthropic.Tool = {
  name: 'read_file',
  description: 'Reads a page.',
  input_schema: schema('path', 'offset', 'limit'),
};
const LIST: Anthropic.Tool = {
  name: 'list_files',
  description: 'Lists files.',
  input_schema: schema('path', 'recursive', 'offset'),
};
const WRITE: Anthropic.Tool = {
  name: 'write_file',
  description: 'Writes a file.',
  input_schema: schema('path', 'content', 'append'),
};
const SEARCH: Anthropic.Tool = {
  name: 'recall_search',
  description: 'Searches.',
  input_schema: schema('query', 'limit'),
};
const OPEN: Anthropic.Tool = {
  name: 'recall_open',
  description: 'Opens an entry.',
  input_schema: schema('entry_id', 'offset', 'limit'),
};

export const FILE_TOOLS = [READ, LIST, WRITE];
export const RECALL_TOOLS = [SEARCH, OPEN];

export function createWorld(files: Record<string, string>, task: string, linesPerPage = 40): World {
  return {
    files: new Map(Object.entries(files)),
    originals: [],
    messages: [{ role: 'user', content: task }],
    calls: [],
    answer: '',
    linesPerPage,
  };
}

type Input = Record<string, unknown>;

function text(input: Input, name: string): string {
  const value = input[name];
  return typeof value === 'string' ? value : '';
}

/** Lines with numbers and a footer that says how to go on, as file tools show them. */
function readPage(world: World, input: Input): string {
  const content = world.files.get(text(input, 'path'));
  if (content === undefined) throw new Error(`${text(input, 'path')} does not exist.`);
  const lines = content.replace(/\n$/, '').split('\n');
  const first = Number(input['offset'] ?? 1);
  const last = Math.min(lines.length, first + world.linesPerPage - 1);
  const shown = lines.slice(first - 1, last).map((line, index) => `${first + index}\t${line}`);
  const next = last < lines.length ? `read on with offset ${last + 1}` : 'end of file';
  return `${shown.join('\n')}\n[lines ${first}–${last} of ${lines.length}; ${next}]`;
}

function search(world: World, input: Input): string {
  const query = text(input, 'query');
  const score = (entry: string): number =>
    query.split(/\s+/).filter((word) => entry.includes(word)).length + (entry.includes(query) ? 10 : 0);
  const found = world.originals
    .map((entry) => ({ ...entry, rank: score(entry.text) }))
    .filter((entry) => entry.rank > 0);
  const best = found.sort((left, right) => right.rank - left.rank).slice(0, Number(input['limit'] ?? 5));
  return (
    best
      .map(
        ({ id, text: original }) =>
          `entry ${id} · tool result · 2026-11-01T00:00:00Z · offset 0\n${original.slice(0, 300)}`,
      )
      .join('\n\n') || '[nothing found]'
  );
}

function open(world: World, input: Input): string {
  const id = text(input, 'entry_id');
  const original = world.originals.find((entry) => entry.id === id)?.text;
  if (original === undefined) throw new Error(`This conversation has no entry "${id}".`);
  const offset = Number(input['offset'] ?? 0);
  const end = Math.min(original.length, offset + Number(input['limit'] ?? 2000));
  const next = end < original.length ? `next: recall_open {"entry_id": "${id}", "offset": ${end}}` : 'end of entry';
  return `entry ${id} · tool result · characters ${offset}–${end} of ${original.length} · ${next}\n${original.slice(offset, end)}`;
}

function runTool(world: World, name: string, input: Input): string {
  const path = text(input, 'path');
  switch (name) {
    case 'read_file':
      return readPage(world, input);
    case 'list_files':
      return [...world.files].map(([file, content]) => `${file} · ${content.length} bytes`).join('\n');
    case 'write_file':
      world.files.set(
        path,
        input['append'] === true ? (world.files.get(path) ?? '') + text(input, 'content') : text(input, 'content'),
      );
      return `${path} written.`;
    case 'edit_file': {
      const before = world.files.get(path) ?? '';
      if (before.split(text(input, 'old_text')).length !== 2) throw new Error(`${path} does not hold old_text once.`);
      world.files.set(
        path,
        before.replace(text(input, 'old_text'), () => text(input, 'new_text')),
      );
      return `${path} changed in one place.`;
    }
    case 'recall_search':
      return search(world, input);
    case 'recall_open':
      return open(world, input);
    default:
      throw new Error(`no tool ${name}`);
  }
}

export interface LoopOptions {
  readonly client: Anthropic;
  readonly world: World;
  readonly tools: readonly Anthropic.Tool[];
  readonly model?: string;
  readonly system?: string;
  /** Changes the context before each call of the model. */
  readonly beforeCall?: (world: World, callNumber: number) => void | Promise<void>;
  /** Steps after which the loop gives up. */
  readonly limit?: number;
}

/** Calls the model and runs its tools until it answers without a call. */
export async function runLoop({
  client,
  world,
  tools,
  model = 'sim-32k',
  system = 'You work with files.',
  beforeCall,
  limit = 200,
}: LoopOptions): Promise<World> {
  for (let number = 1; number <= limit; number += 1) {
    await beforeCall?.(world, number);
    const answer = await client.messages.create({
      model,
      max_tokens: model === 'sim-8k' ? 2000 : 4000,
      system,
      tools: [...tools],
      messages: world.messages,
    });
    world.messages.push({ role: 'assistant', content: answer.content });
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) {
      world.answer = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      return world;
    }
    world.messages.push({ role: 'user', content: calls.map((call) => runCall(world, call)) });
  }
  throw new Error(`no answer after ${limit} steps`);
}

function runCall(world: World, call: Anthropic.ToolUseBlock): Anthropic.ToolResultBlockParam {
  const input = z.record(z.string(), z.unknown()).parse(call.input);
  world.calls.push({ name: call.name, input });
  try {
    const content = runTool(world, call.name, input);
    world.originals.push({ id: randomUUID(), text: content });
    return { type: 'tool_result', tool_use_id: call.id, content };
  } catch (error) {
    return {
      type: 'tool_result',
      tool_use_id: call.id,
      is_error: true,
      content: error instanceof Error ? error.message : '',
    };
  }
}

/** Replaces all results but the newest few by placeholders, with or without the way back. */
export function clearOldResults(world: World, keep: number, way: 'recall' | 'no way back'): void {
  const results = world.messages.flatMap((message) =>
    typeof message.content === 'string'
      ? []
      : message.content.flatMap((block) => (block.type === 'tool_result' ? [block] : [])),
  );
  for (const result of results.slice(0, -keep)) {
    const original = world.originals.find((entry) => entry.text === result.content);
    if (original === undefined) continue;
    const back =
      way === 'recall' ? `recall_open ${original.id} shows the original.` : 'The original is kept in the log.';
    result.content = `[Old result of read_file cleared: ${original.text.length} characters. ${back}]`;
  }
}

/** The rows of a report's table as lists of cells, header and rule left out. */
export function tableOf(report: string | undefined): string[][] {
  const rows = (report ?? '').split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}
