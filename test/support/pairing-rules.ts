import { expect } from 'vitest';
import { property } from '../../src/models/protocols/json.ts';

/** Anthropic: roles alternate, each tool_use is answered at the start of the next message, no block is empty. */
export function checkAnthropicPairing(messages: readonly { role: string; content: unknown }[]): void {
  expect(messages.at(-1)?.role).toBe('user');
  const seen = new Set<unknown>();
  let open: unknown[] = [];
  for (const [position, message] of messages.entries()) {
    expect(message.role).toBe(position % 2 === 0 ? 'user' : 'assistant');
    const blocks = listOf(message.content);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      if (property(block, 'type') === 'text') expect(String(property(block, 'text')).trim()).not.toBe('');
    }
    if (message.role === 'user') {
      const answered = blocks.flatMap((block) => property(block, 'tool_use_id') ?? []);
      expect(answered).toEqual(open);
      for (const block of blocks.slice(0, answered.length)) expect(property(block, 'type')).toBe('tool_result');
    } else {
      expect(property(blocks.at(-1), 'type')).not.toMatch(/thinking/);
    }
    open = blocks.flatMap((block) => property(block, 'id') ?? []);
    for (const id of open) {
      expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(seen.has(id)).toBe(false);
      seen.add(id);
    }
  }
}

/** Chat Completions, as strict servers see it: each call is followed by its tool message. */
export function checkChatPairing(messages: readonly { role: string }[]): void {
  let open: unknown[] = [];
  let previous = 'system';
  for (const message of messages) {
    if (message.role === 'tool') expect(open.shift()).toBe(property(message, 'tool_call_id'));
    else expect(open).toEqual([]);
    if (message.role === 'user') expect(previous).not.toMatch(/user|tool/);
    const calls = listOf(property(message, 'tool_calls'));
    if (calls.length > 0) open = calls.map((item) => property(item, 'id'));
    previous = message.role;
  }
  expect(open).toEqual([]);
}

/** Responses: calls and outputs pair, a reasoning item is followed by what it led to. */
export function checkResponsesPairing(input: unknown): void {
  const items = listOf(input);
  const idsOf = (type: string) =>
    items.filter((item) => property(item, 'type') === type).map((item) => property(item, 'call_id'));
  const calls = idsOf('function_call');
  expect(idsOf('function_call_output')).toEqual(calls);
  expect(new Set(calls).size).toBe(calls.length);
  for (const [position, item] of items.entries()) {
    if (property(item, 'type') !== 'reasoning') continue;
    expect(property(items[position + 1], 'type')).toMatch(/^(?:reasoning|message|function_call)$/);
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
