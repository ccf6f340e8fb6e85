import { inlineReferences } from '../../context/view/inline-references.ts';
import { isRecord } from './json.ts';

/**
 * A JSON Schema as all servers accept it for a tool's arguments: an object with `properties`,
 * without `$schema` (refused by Gemini's compatible endpoint) and with local `$ref` written out
 * (not resolved by several servers). A reference into itself ends as "any value".
 */
export function sendableSchema(
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> & { type: 'object' } {
  const { $schema: _dialect, $defs: _definitions, definitions: _older, ...rest } = inlineReferences(schema);
  return { ...rest, type: 'object', properties: isRecord(rest['properties']) ? rest['properties'] : {} };
}

/** All that OpenAI's strict mode takes everywhere; Azure refuses bounds of numbers and lists, and both refuse defaults. */
const STRICT_WORDS = new Set([
  'type',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
]);
/** OpenAI's limits of strict schemas when they came: later ones are larger. */
const STRICT_DEPTH = 5;
const STRICT_PROPERTIES = 100;

/**
 * The schema as OpenAI's strict mode wants it, with which a model cannot write arguments that do not fit; `null` when it
 * says what strict mode cannot: optional properties, free names, bounds, patterns. Made from `sendableSchema`, so it has no `$ref`.
 */
export function strictSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  const counted = { properties: 0 };
  const strict = strictNode(schema, { depth: 0, counted });
  return isRecord(strict) && strict['type'] === 'object' && counted.properties <= STRICT_PROPERTIES ? strict : null;
}

interface StrictPlace {
  readonly depth: number;
  readonly counted: { properties: number };
}

/** `null` anywhere below makes the whole `null`. */
function strictNode(node: unknown, place: StrictPlace): Record<string, unknown> | null {
  if (!isRecord(node) || !Object.keys(node).every((word) => STRICT_WORDS.has(word))) return null;
  const { properties, items, anyOf } = node;
  const says = node['type'] !== undefined || node['enum'] !== undefined || node['const'] !== undefined;
  if (!says && anyOf === undefined) return null;
  const below: StrictPlace = { ...place, depth: place.depth + 1 };
  const strict: Record<string, unknown> = { ...node };
  if (node['type'] === 'object') {
    const named = strictProperties(node, isRecord(properties) ? properties : {}, below);
    if (named === null) return null;
    strict['properties'] = named;
    strict['additionalProperties'] = false;
    strict['required'] = Object.keys(named);
  }
  const types: readonly unknown[] = Array.isArray(node['type']) ? node['type'] : [];
  if (types.includes('object') || types.includes('array')) return null;
  if (node['type'] === 'array' && items === undefined) return null;
  if (items !== undefined && (strict['items'] = strictNode(items, place)) === null) return null;
  if (anyOf === undefined) return strict;
  const choices = Array.isArray(anyOf) && place.depth > 0 ? anyOf.map((choice) => strictNode(choice, place)) : [null];
  return choices.includes(null) ? null : { ...strict, anyOf: choices };
}

function strictProperties(
  { required, additionalProperties }: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, unknown>>,
  place: StrictPlace,
): Record<string, unknown> | null {
  const names = Object.keys(properties);
  const isClosed = additionalProperties === undefined || additionalProperties === false;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  if (!isClosed || place.depth > STRICT_DEPTH || !names.every((name) => needed.includes(name))) return null;
  place.counted.properties += names.length;
  const strict = names.map((name) => [name, strictNode(properties[name], place)] as const);
  return strict.some(([, property]) => property === null) ? null : Object.fromEntries(strict);
}
