import { expect, test } from 'vitest';
import { z } from 'zod';
import { sendableSchema, strictSchema } from '../../src/models/protocols/tool-schema.ts';

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

const STRING = { type: 'string' } as const;

test('what strict mode can say is closed at every level, with all properties required and no reference', () => {
  const place = z.object({ city: z.string(), kind: z.enum(['town', 'village']) }).meta({ id: 'place' });
  const input = z.object({
    from: place,
    stops: z.array(place),
    note: z.union([z.string(), z.null()]),
    size: z.union([z.literal(1), z.array(z.string())]),
  });
  const strict = strictSchema(sendableSchema(z.toJSONSchema(input, { io: 'input' })));
  const closed = {
    type: 'object',
    properties: { city: STRING, kind: { type: 'string', enum: ['town', 'village'] } },
    required: ['city', 'kind'],
    additionalProperties: false,
  };
  expect(strict).toEqual({
    type: 'object',
    properties: {
      from: expect.objectContaining(closed),
      stops: { type: 'array', items: expect.objectContaining(closed) },
      note: { type: ['string', 'null'] },
      size: {
        anyOf: [
          { type: 'number', const: 1 },
          { type: 'array', items: STRING },
        ],
      },
    },
    required: ['from', 'stops', 'note', 'size'],
    additionalProperties: false,
  });
  expect(JSON.stringify(strict)).not.toContain('$ref');
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['an optional property', { properties: { a: STRING }, required: [] }],
  ['free names', { properties: {}, additionalProperties: STRING }],
  ['a bound', { properties: { a: { type: 'number', minimum: 1 } }, required: ['a'] }],
  ['a default', { properties: { a: { type: 'string', default: 'x' } }, required: ['a'] }],
  ['any value', { properties: { a: {} }, required: ['a'] }],
  [
    'an optional property far below',
    { properties: { a: { type: 'array', items: { type: 'object', properties: { b: STRING } } } }, required: ['a'] },
  ],
  ['a list of anything', { properties: { a: { type: 'array' } }, required: ['a'] }],
  ['a choice at the top', { anyOf: [{ type: 'object', properties: {} }] }],
])('a schema with %s is sent as it is, not strict', (_, schema) => {
  expect(strictSchema(sendableSchema(schema))).toBeNull();
});
