import { describe, expect, test } from 'vitest';
import { classifyUserText, splitUserText, tellsToGoOn } from '../../../packages/simulator/src/agents/user-text.ts';
import { packageFacts, packageTask } from './support/packages.ts';
import { simulator } from './support/simulator.ts';

const SUMMARY =
  '[Summary of the earlier conversation]\nOlder messages were taken out.\n\n## Completed Items\n- library-1: version = "0.0.1"; licence = "MIT"; introduction = "One."; speed = "7"; read\n\n## Open Items\n- none\n\n[End of summary]\nUser messages that follow right after this are older ones.';
const GO_ON =
  '[Context compacted]\nThe context was compacted. The task is not finished because of that. Continue where you left off.\nDo not redo completed work.';

describe('texts in the role of the user', () => {
  test('joined ones are taken apart: summary, notes, and the words of the user with their blank lines', () => {
    const words = 'Read this:\n\n- a.md\n- b.md\n\nThanks.';
    const joined = [SUMMARY, '[Current plan]', '1. Read\n2. Report', words, GO_ON].join('\n\n');
    expect(splitUserText(joined)).toEqual([SUMMARY, '[Current plan]\n\n1. Read\n2. Report', words, GO_ON]);
    expect(splitUserText(joined).map((text) => classifyUserText(text))).toEqual(['summary', 'note', 'message', 'note']);
    expect(splitUserText(words)).toEqual([words]);
  });

  test.each([
    [GO_ON, true],
    [
      '[Status: Context was compacted. Continue where you left off. Do NOT produce final output until ALL steps are complete.]',
      true,
    ],
    ['Please go on.', true],
    ['The conversation continues below.', false],
    ['- Next comes library-7.', false],
  ])('%s tells to go on: %s', (text, expected) => {
    expect(tellsToGoOn(text)).toBe(expected);
  });

  test.each([
    ['Summarize the README of hono, please.', 'message'],
    ['Fix the [Context] component.', 'message'],
    ['<system-reminder>Be quick.</system-reminder>', 'note'],
    ['[Compaction Summary]\n\nTASK: Read.\nPROGRESS: None.', 'summary'],
  ])('%s is a %s', (text, kind) => {
    expect(classifyUserText(text)).toBe(kind);
  });
});

test.each(['chat', 'responses'] as const)(
  'the reader goes on where one joined text holds everything, over %s',
  async (protocol) => {
    const { openai } = await simulator();
    const content = [SUMMARY, packageTask(packageFacts(3)), GO_ON].join('\n\n');
    const parameters = { type: 'object', properties: { path: { type: 'string' }, offset: { type: 'integer' } } };
    if (protocol === 'chat') {
      const tools = [{ type: 'function' as const, function: { name: 'read_file', parameters } }];
      const { choices } = await openai.chat.completions.create({
        model: 'sim-32k',
        tools,
        messages: [{ role: 'user', content }],
      });
      expect(choices[0]?.message.tool_calls).toMatchObject([
        { function: { name: 'read_file', arguments: '{"path":"packages/library-2/package.json"}' } },
      ]);
    } else {
      const tools = [{ type: 'function' as const, name: 'read_file', parameters, strict: false }];
      const { output } = await openai.responses.create({ model: 'sim-32k', tools, input: [{ role: 'user', content }] });
      expect(output.at(-1)).toMatchObject({
        type: 'function_call',
        name: 'read_file',
        arguments: '{"path":"packages/library-2/package.json"}',
      });
    }
  },
);
