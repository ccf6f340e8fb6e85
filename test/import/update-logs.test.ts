import { describe, expect, test } from 'vitest';
import { brief, lines, readContent } from './read-fixture.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString();

describe('Gemini CLI: lines that change what lines before them said', () => {
  const header = { sessionId: 'g', projectHash: 'h', startTime: at(0), kind: 'main' };
  const message = (id: string, type: string, more: Record<string, unknown> = {}) => ({
    id,
    timestamp: at(1),
    type,
    content: id,
    ...more,
  });
  const tool = { id: 't1', name: 'read_file', args: {} };
  const done = {
    ...tool,
    status: 'success',
    result: [{ functionResponse: { id: 't1', response: { output: 'read' } } }],
  };

  test('the same id replaces, in its place', async () => {
    const { records, report } = await readContent(
      lines(
        header,
        message('u', 'user'),
        message('a', 'gemini'),
        message('b', 'gemini'),
        message('a', 'gemini', { toolCalls: [tool] }),
        message('a', 'gemini', { toolCalls: [done] }),
      ),
    );
    expect(brief(records)).toEqual(['user: u', 'assistant: a', 'call t1', 'result t1', 'assistant: b']);
    expect(records[0]).toEqual({ kind: 'session', id: 'g' });
    expect(report.leftOut).toEqual({ 'earlier state of a record': 2 });
  });

  test('$rewindTo takes back a message and all behind it; one that is not there, everything', async () => {
    const said = [header, message('u', 'user'), message('a', 'gemini'), message('v', 'user'), message('b', 'gemini')];
    const back = await readContent(lines(...said, { $rewindTo: 'v' }, message('w', 'user')));
    expect(brief(back.records)).toEqual(['user: u', 'assistant: a', 'user: w']);
    expect(back.report.leftOut).toEqual({ 'record taken back': 2 });
    const all = await readContent(lines(...said, { $rewindTo: 'unknown' }, message('w', 'user')));
    expect(brief(all.records)).toEqual(['user: w']);
  });

  test('$set.messages takes the place of all; a history that was written back repeats no result', async () => {
    const kept = message('a', 'gemini', {
      content: [{ functionCall: { id: 't1', name: 'read_file', args: {} } }],
      toolCalls: [done],
    });
    const response = message('r', 'user', {
      content: [{ functionResponse: { id: 't1', response: { output: 'read' } } }],
    });
    const { records, report } = await readContent(
      lines(
        header,
        message('u', 'user'),
        message('a', 'gemini'),
        message('b', 'gemini'),
        { $set: { messages: [message('s', 'user'), kept, response] } },
        { $set: { lastUpdated: at(5) } },
        message('c', 'gemini'),
      ),
    );
    expect(brief(records)).toEqual(['user: s', 'call t1', 'result t1', 'assistant: c']);
    expect(report.leftOut).toEqual({
      'record taken back': 2,
      'earlier state of a record': 1,
      'copy of a result': 1,
      $set: 1,
    });
    expect(report.problems).toEqual([]);
  });
});

describe('Codex', () => {
  const item = (payload: Record<string, unknown>) => ({ timestamp: at(1), type: 'response_item', payload });
  const said = (role: string, text: string) =>
    item({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] });
  const meta = (id: string) => ({ timestamp: at(0), type: 'session_meta', payload: { id } });
  const rollback = (turns: number) => ({
    timestamp: at(2),
    type: 'event_msg',
    payload: { type: 'thread_rolled_back', num_turns: turns },
  });

  test('a rollback takes back the newest turns, whatever the program said in the name of the user', async () => {
    const turns = ['one', 'two', 'three'].flatMap((text) => [said('user', text), said('assistant', `${text}!`)]);
    const environment = said('user', '<environment_context>\n<cwd>/w</cwd>\n</environment_context>');
    const { records, report } = await readContent(
      lines(meta('c'), ...turns, environment, rollback(2), said('user', 'four')),
    );
    expect(brief(records)).toEqual(['user: one', 'assistant: one!', 'user: four']);
    expect(report.leftOut).toEqual({ 'record taken back': 5 });
    const all = await readContent(lines(meta('c'), ...turns, rollback(9), said('user', 'four')));
    expect(brief(all.records)).toEqual(['user: four']);
  });

  test("a forked file is one session, and what a developer says is nobody else's", async () => {
    const { records, report } = await readContent(
      lines(
        meta('new'),
        meta('old'),
        said('developer', 'Be kind.'),
        said('user', 'one'),
        said('assistant', 'two'),
        said('developer', 'Be brief.'),
        said('user', 'three'),
      ),
    );
    expect(records[0]).toEqual({ kind: 'session', id: 'new' });
    expect(brief(records)).toEqual([
      'instructions: Be kind.',
      'user: one',
      'assistant: two',
      'instructions: Be brief.',
      'user: three',
    ]);
    expect(report).toMatchObject({ sessions: 1, leftOut: { 'session_meta of the file that it was forked from': 1 } });
  });

  test('a file that begins with a compacted history has that', async () => {
    const compacted = { type: 'compacted', payload: { replacement_history: [said('user', 'one').payload] } };
    const { records } = await readContent(lines(meta('c'), compacted, said('user', 'two'), compacted));
    expect(brief(records)).toEqual(['user: one', 'compacted', 'user: two', 'compacted']);
  });

  test('reasoning is in its content too', async () => {
    const reasoning = item({
      type: 'reasoning',
      summary: [{ text: 'Look.' }],
      content: [{ type: 'reasoning_text', text: 'I look first.' }],
    });
    const { records } = await readContent(lines(meta('c'), said('user', 'one'), reasoning, said('assistant', 'two')));
    expect(brief(records)).toEqual(['user: one', 'assistant: Look.\nI look first.', 'assistant: two']);
  });
});

test('Copilot: a record that is written again replaces the first; sub-agents are left out', async () => {
  const event = (id: string, type: string, data: Record<string, unknown>, more = {}) => ({
    id,
    type,
    data,
    timestamp: at(1),
    parentId: null,
    ...more,
  });
  const { records, report } = await readContent(
    lines(
      event('1', 'session.start', { sessionId: 'cp' }),
      event('2', 'user.message', { content: 'one' }),
      event('3', 'assistant.message', { messageId: 'm', content: 'tw' }),
      event('4', 'assistant.message', { messageId: 'm', content: 'two' }),
      event('5', 'assistant.message', { messageId: 'n', content: 'aside' }, { agentId: 'explorer' }),
      event('6', 'assistant.message', { messageId: 'o', content: 'aside', parentToolCallId: 't' }),
      event('2', 'user.message', { content: 'one' }),
    ),
  );
  expect(brief(records)).toEqual(['user: one', 'assistant: two']);
  expect(report.leftOut).toEqual({ 'earlier state of a record': 2, 'line of a sub-agent': 2 });
});

test("OpenAI lists: a system message is nobody else's, wherever it stands", async () => {
  const said = (role: string, content: string) => ({ role, content });
  const { records } = await readContent(
    lines(said('user', 'one'), said('system', 'Be brief.'), said('assistant', 'two'), said('developer', 'Be kind.')),
  );
  expect(brief(records)).toEqual(['user: one', 'instructions: Be brief.', 'assistant: two', 'instructions: Be kind.']);
});
