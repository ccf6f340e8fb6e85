import { describe, expect, test } from 'vitest';
import { fixture, readRecords } from './read-fixture.ts';

const text = (said: string) => ({ type: 'text', text: said });
const IMAGE = expect.objectContaining({ type: 'image', mediaType: 'image/png', width: 2, height: 3 });

describe('Claude Code', () => {
  test('joins the lines of one answer, with the results that came between them', async () => {
    const { records } = await readRecords(fixture('claude-code.jsonl'));
    expect(records).toEqual([
      { kind: 'session', id: '5e55-0001' },
      { kind: 'user', content: [text('Count the trees in orchard/plan.md and never touch orchard/seeds.md.')] },
      {
        kind: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [
          { type: 'thinking', text: 'Two files.', provider: 'anthropic', signature: 'c2ln' },
          { type: 'tool_call', index: 0, id: 'toolu_1', name: 'Read', arguments: '{"file_path":"orchard/plan.md"}' },
          { type: 'tool_call', index: 1, id: 'toolu_2', name: 'Screenshot', arguments: '{}' },
        ],
      },
      { kind: 'tool_result', callId: 'toolu_1', isError: false, content: [text('142 apple trees')] },
      {
        kind: 'tool_result',
        callId: 'toolu_2',
        isError: true,
        content: [
          text('blurred'),
          IMAGE,
          { type: 'file', mediaType: 'application/pdf', name: 'Plan', data: 'JVBERi0=', pages: 1 },
          text('{"type":"document","source":{"type":"url"}}'),
          text('{"type":"tool_reference","tool_name":"Zoom"}'),
        ],
      },
      { kind: 'compacted' },
      { kind: 'user', content: [text('Also count the pears.')] },
      { kind: 'assistant', model: 'claude-sonnet-4-5', content: [text('142 apple trees and 17 pear trees.')] },
    ]);
  });

  test('counts what is no part of the conversation by name, and what it does not know apart', async () => {
    const { report } = await readRecords(fixture('claude-code.jsonl'));
    expect(report).toMatchObject({
      format: 'claude-code',
      values: 14,
      sessions: 1,
      leftOut: {
        'attachment task_reminder': 1,
        'file-history-snapshot': 1,
        'line of a sub-agent': 1,
        'summary of a compaction': 1,
      },
      unknown: { 'content block document': 1, 'content block tool_reference': 1, hologram: 1 },
      problems: [],
    });
  });
});

test('Codex: items become answers, each with the calls that belong to it', async () => {
  const { records, report } = await readRecords(fixture('codex.jsonl'));
  expect(records).toEqual([
    { kind: 'session', id: 'c0dex-1' },
    { kind: 'instructions', slot: 'base', text: 'You mend boats.' },
    { kind: 'instructions', slot: 'Never sail.', text: 'Never sail.' },
    { kind: 'user', content: [text('Mend the hull of boat 7781.'), IMAGE] },
    {
      kind: 'assistant',
      model: 'gpt-5.5',
      content: [
        { type: 'thinking', text: 'Look first.', provider: 'openai', encrypted: 'ZW5j' },
        text('I look at the hull.'),
        { type: 'tool_call', index: 0, id: 'call_1', name: 'shell', arguments: '{"command":"ls hull"}' },
        { type: 'tool_call', index: 1, id: 'call_2', name: 'apply_patch', arguments: '{"input":"*** Begin Patch"}' },
      ],
    },
    { kind: 'tool_result', callId: 'call_1', isError: false, content: [text('plank.txt')] },
    { kind: 'tool_result', callId: 'call_2', isError: false, content: [text('Success')] },
    { kind: 'compacted' },
    { kind: 'assistant', model: 'gpt-5.5', content: [text('The hull is mended.')] },
  ]);
  expect(report).toMatchObject({ format: 'codex', unknown: { 'response_item tide_table': 1 } });
});

test('pi: messages, commands of the user and failed results', async () => {
  const { records, report } = await readRecords(fixture('pi.jsonl'));
  expect(records).toEqual([
    { kind: 'session', id: 'p1' },
    { kind: 'user', content: [text('Weigh the pumpkins.')] },
    {
      kind: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [
        { type: 'thinking', text: 'The scale.', provider: 'anthropic', signature: 'c2ln' },
        text('I use the scale.'),
        { type: 'tool_call', index: 0, id: 't1', name: 'weigh', arguments: '{"which":"all"}' },
        { type: 'tool_call', index: 1, id: 't2', name: 'weigh', arguments: '{"which":"one"}' },
      ],
    },
    { kind: 'tool_result', callId: 't2', isError: true, content: [text('scale jammed')] },
    { kind: 'user', content: [text('$ oil scale\ndone')] },
    { kind: 'compacted' },
    { kind: 'assistant', model: 'claude-sonnet-4-5', content: [text('One pumpkin weighs 12.5 kg.')] },
  ]);
  expect(report).toMatchObject({
    format: 'pi',
    leftOut: { 'empty answer (aborted)': 1, model_change: 1, 'summary of a compaction': 1 },
    unknown: { moon_phase: 1 },
  });
});

test('GitHub Copilot CLI: answers with reasoning, failed tools with their error', async () => {
  const { records, report } = await readRecords(fixture('copilot-cli.jsonl'));
  expect(records).toEqual([
    { kind: 'session', id: 'cp1' },
    { kind: 'instructions', slot: 'system', text: 'You paint fences.' },
    { kind: 'user', content: [text('Paint the fence RAL 6005.')] },
    {
      kind: 'assistant',
      model: 'claude-sonnet-4.6',
      content: [
        { type: 'thinking', text: 'Green, then.', provider: 'github-copilot' },
        { type: 'tool_call', index: 0, id: 'k1', name: 'paint', arguments: '{"colour":"RAL 6005"}' },
      ],
    },
    { kind: 'tool_result', callId: 'k1', isError: true, content: [text('no paint left')] },
    { kind: 'assistant', model: 'claude-sonnet-4.6', content: [text('The paint is used up.')] },
  ]);
  expect(report).toMatchObject({ format: 'copilot-cli', unknown: { 'garden.gnome': 1 } });
});

test('Gemini CLI: a JSON document; a cancelled call has no result', async () => {
  const { records, report } = await readRecords(fixture('gemini-cli.json'));
  expect(records).toEqual([
    { kind: 'session', id: 'g1' },
    { kind: 'user', content: [text('Write docs/moss.md.')] },
    {
      kind: 'assistant',
      model: 'gemini-2.5-flash',
      content: [
        { type: 'thinking', text: 'Moss\nGreen and soft.', provider: 'google' },
        text('I write it.'),
        { type: 'tool_call', index: 0, id: 'w1', name: 'write_file', arguments: '{"file_path":"docs/moss.md"}' },
        { type: 'tool_call', index: 1, id: 'w2', name: 'shell', arguments: '{"command":"false"}' },
      ],
    },
    { kind: 'tool_result', callId: 'w1', isError: false, content: [text('created docs/moss.md')] },
    { kind: 'assistant', model: 'gemini-2.5-flash', content: [text('docs/moss.md is there.')] },
  ]);
  expect(report).toMatchObject({
    format: 'gemini-cli',
    values: 5,
    leftOut: { 'message of type info': 1 },
    unknown: { 'message of type comet': 1 },
  });
});

test('OpenAI message lists: each line a session, old function calls paired by order', async () => {
  const { records, report } = await readRecords(fixture('openai-messages.jsonl'));
  expect(records).toEqual([
    { kind: 'session', id: 'talk-1' },
    { kind: 'instructions', slot: 'You book tables.', text: 'You book tables.' },
    { kind: 'user', content: [text('A table for 4 at 19:30, please.'), IMAGE] },
    {
      kind: 'assistant',
      content: [{ type: 'tool_call', index: 0, id: 'c1', name: 'find_table', arguments: '{"seats":4}' }],
    },
    { kind: 'tool_result', callId: 'c1', isError: false, content: [text('table_12')] },
    { kind: 'assistant', content: [text('Table 12 is yours.')] },
    { kind: 'session', id: 'talk-2' },
    { kind: 'user', content: [text('Cancel it.')] },
    {
      kind: 'assistant',
      content: [{ type: 'tool_call', index: 0, id: 'function-call-1', name: 'cancel', arguments: '{}' }],
    },
    { kind: 'tool_result', callId: 'function-call-1', isError: false, content: [text('cancelled')] },
    { kind: 'assistant', content: [text('Cancelled.')] },
  ]);
  expect(report).toMatchObject({ format: 'openai-messages', sessions: 2, unknown: { 'message of narrator': 1 } });
});
