import { expect, test } from 'vitest';
import { z } from 'zod';
import { createBuiltInTools } from '../../src/tools/builtin/built-in-tools.ts';
import { BUILT_IN_TOOL_NAMES } from '../../src/tools/runtime/names.ts';
import { toolSchema } from '../../src/tools/runtime/tool-input.ts';

const schemaOf = (input: z.ZodType) => toolSchema({ name: 'probe', description: 'A probe.', input }).inputSchema;

test('built-in tools: stable bytes, no reference, every property described', () => {
  const make = () => createBuiltInTools({ environment: {}, secrets: [] }).map(toolSchema);
  expect(make().map((schema) => schema.name)).toEqual(BUILT_IN_TOOL_NAMES);
  const bytes = JSON.stringify(make());
  expect(JSON.stringify(make())).toBe(bytes);
  expect(bytes).not.toMatch(/\$ref|\$schema|\$defs|9007199254740991/);
  for (const { inputSchema } of make()) {
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    for (const property of Object.values(Object(inputSchema['properties'])))
      expect(property).toHaveProperty('description');
  }
});

test('a schema that is used twice, or named, is written out', () => {
  const named = z.object({ text: z.string() }).meta({ id: 'Named' });
  const schema = schemaOf(z.object({ one: named, other: named.describe('the other'), list: z.array(named) }));
  const inlined = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  expect(schema).toEqual({
    type: 'object',
    properties: {
      one: expect.objectContaining(inlined),
      other: expect.objectContaining({ ...inlined, description: 'the other' }),
      list: { type: 'array', items: expect.objectContaining(inlined) },
    },
    required: ['one', 'other', 'list'],
  });
  expect(JSON.stringify(schema)).not.toContain('$');
});

test('properties may be called like words of JSON Schema', () => {
  const names = ['id', 'enum', 'default', 'const', '$ref', '$defs', 'properties', 'type', 'maximum'];
  const schema = schemaOf(z.object(Object.fromEntries(names.map((name) => [name, z.string()]))));
  expect(Object.keys(Object(schema['properties']))).toEqual(names);
});

test('a default makes a property optional for the model', () => {
  expect(schemaOf(z.object({ count: z.number().default(3) }))).toEqual({
    type: 'object',
    properties: { count: { type: 'number', default: 3 } },
  });
});

test('what a model cannot be told is refused with the name of the tool', () => {
  const tree: z.ZodType = z.object({
    get children() {
      return z.array(tree);
    },
  });
  for (const input of [z.string(), z.union([z.object({}), z.object({})]), z.object({ when: z.date() }), tree]) {
    expect(() => schemaOf(input)).toThrow(
      expect.objectContaining({ code: 'tool_definition_invalid', message: expect.stringContaining('probe') }),
    );
  }
});
