import { isRecord } from './json.ts';

/**
 * A JSON Schema as all servers accept it for a tool's arguments: an object with `properties`,
 * without `$schema` (refused by Gemini's compatible endpoint) and with local `$ref` written out
 * (not resolved by several servers). A reference into itself ends as "any value".
 */
export function sendableSchema(
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> & { type: 'object' } {
  const resolved = resolve(schema, schema, []);
  const { $schema: _dialect, $defs: _definitions, definitions: _older, ...rest } = isRecord(resolved) ? resolved : {};
  return { ...rest, type: 'object', properties: isRecord(rest['properties']) ? rest['properties'] : {} };
}

function resolve(
  value: unknown,
  root: Readonly<Record<string, unknown>>,
  /** References being written out: one that comes back has no finite form. */
  open: readonly string[],
): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, root, open));
  if (!isRecord(value)) return value;
  const reference = value['$ref'];
  if (typeof reference === 'string') {
    const target = open.includes(reference) ? undefined : lookUp(reference, root);
    const { $ref: _reference, ...siblings } = value;
    const resolved = resolve(target ?? {}, root, [...open, reference]);
    return { ...(isRecord(resolved) ? resolved : {}), ...siblings };
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, root, open)]));
}

/** A reference within the document, `#/$defs/item`; others cannot be followed. */
function lookUp(reference: string, root: Readonly<Record<string, unknown>>): unknown {
  if (!reference.startsWith('#')) return undefined;
  const path = reference
    .slice(1)
    .split('/')
    .filter((step) => step !== '')
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return path.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), root);
}
