import { expect, test } from 'vitest';
import { z } from 'zod';
import { sendableSchema } from '../../src/models/tool-schema.ts';

test('local references are written out, the dialect is dropped', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { from: { $ref: '#/$defs/place', description: 'start' }, to: { $ref: '#/$defs/place' } },
    required: ['from'],
    $defs: { place: { type: 'object', properties: { city: { type: 'string' } } } },
  };
  const place = { type: 'object', properties: { city: { type: 'string' } } };
  expect(sendableSchema(schema)).toEqual({
    type: 'object',
    properties: { from: { ...place, description: 'start' }, to: place },
    required: ['from'],
  });
});

test('a schema that contains itself ends as any value', () => {
  const Node = z.object({
    name: z.string(),
    get children() {
      return z.array(Node);
    },
  });
  const sent = sendableSchema(z.toJSONSchema(z.object({ root: Node })));
  expect(JSON.stringify(sent)).not.toContain('$ref');
  expect(sent['properties']).toMatchObject({ root: { properties: { name: { type: 'string' } } } });
});

test('a reference that leads nowhere is any value, a schema without properties gets some', () => {
  expect(sendableSchema({ properties: { a: { $ref: '#/nowhere' }, b: { $ref: 'https://elsewhere' } } })).toEqual({
    type: 'object',
    properties: { a: {}, b: {} },
  });
  expect(sendableSchema({})).toEqual({ type: 'object', properties: {} });
});
