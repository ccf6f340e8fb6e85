type Schema = Readonly<Record<string, unknown>>;

/** A JSON Schema with its local references written out, which several servers do not follow. One into itself ends as "any value". */
export function inlineReferences(schema: Schema): Schema {
  const resolved = resolve(schema, schema, []);
  return isRecord(resolved) ? resolved : {};
}

function resolve(
  value: unknown,
  root: Schema,
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
function lookUp(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#')) return undefined;
  const path = reference
    .slice(1)
    .split('/')
    .filter((step) => step !== '')
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return path.reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), root);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
