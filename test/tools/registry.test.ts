import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { createBuiltInTools } from '../../src/tools/builtin/built-in-tools.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { BUILT_IN_TOOL_NAMES } from '../../src/tools/runtime/names.ts';
import { createToolRegistry } from '../../src/tools/runtime/registry.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';

const builtIn = createBuiltInTools({ environment: {}, secrets: [] });

const weather: ToolDefinition = {
  name: 'weather',
  description: 'The weather.',
  input: z.object({ city: z.string() }),
  effect: 'none',
  run: () => Promise.resolve({ content: 'rain' }),
};

test('holds built-in tools and those of the user, in order', () => {
  const registry = createToolRegistry([...builtIn, weather]);
  expect(registry.names).toEqual([...BUILT_IN_TOOL_NAMES, 'weather']);
  expect(registry.get('weather')).toBe(weather);
  expect(registry.get('none')).toBeUndefined();
});

test('an agent is offered what it names; run_command only if commands are allowed', () => {
  const registry = createToolRegistry([...builtIn, weather]);
  const tools = ['weather', 'run_command', 'read_file'];
  const namesFor = (allowCommands: boolean) =>
    registry.schemasFor({ tools, allowCommands }).map((schema) => schema.name);
  expect(namesFor(false)).toEqual(['weather', 'read_file']);
  expect(namesFor(true)).toEqual(tools);
  expect(registry.offeredTo({ tools, allowCommands: false })).not.toContain(registry.get('run_command'));
});

test('a name that no tool has is refused when a turn begins, and left out of one that has begun elsewhere', () => {
  const registry = createToolRegistry([weather]);
  const agent = { tools: ['wether', 'weather'], allowCommands: false };
  expect(() => registry.schemasFor(agent)).toThrow('no tool wether. It has: weather.');
  expect(registry.offeredTo(agent)).toEqual([weather]);
});

test('two tools of one name are refused, also over a built-in one', () => {
  expect(() => createToolRegistry([weather, weather])).toThrow('Two tools are called weather');
  expect(() => createToolRegistry([...builtIn, { ...weather, name: 'read_file' }])).toThrow(
    'Built-in tools cannot be replaced',
  );
});

const WRONG: readonly (readonly [string, object, string])[] = [
  ['a name with a blank', { name: 'my tool' }, 'refuse its name'],
  ['an empty name', { name: '' }, 'refuse its name'],
  ['a name of 65 characters', { name: 'x'.repeat(65) }, 'refuse its name'],
  ['no name', { name: undefined }, 'refuse its name'],
  ['no description', { description: ' ' }, 'no description'],
  ['an unknown effect', { effect: 'sometimes' }, 'its effect is "sometimes"'],
  ['a timeout of 0', { timeout: 0 }, 'its timeout is'],
  ['a timeout that is no number', { timeout: Number.NaN }, 'its timeout is'],
  ['a timeout over a day', { timeout: 86_400_001 }, 'its timeout is'],
  ['no function to run', { run: 'echo' }, 'no function "run"'],
  ['an input that is no object', { input: z.string() }, 'must be a z.object'],
];

test.each(WRONG)('%s is refused at start', (_, change, words) => {
  const tool = { ...weather, ...change };
  const refusal = expect.objectContaining({ code: 'tool_definition_invalid', message: expect.stringContaining(words) });
  expect(() => createToolRegistry([tool])).toThrow(refusal);
  expect(() => defineTool(tool)).toThrow(refusal);
});

test('the type of a tool’s input follows from its schema', () => {
  const tool = defineTool({
    name: 'typed',
    description: 'Typed.',
    input: z.object({ city: z.string(), days: z.number().default(1) }),
    effect: 'none',
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>();
      return Promise.resolve({ content: input.city });
    },
  });
  const tools: ToolDefinition[] = [tool, weather];
  expect(createToolRegistry(tools).names).toEqual(['typed', 'weather']);
});
