/** What a value of a JSON column must be, so that whoever reads the row later does not stumble over it. */
type Shape = (value: unknown) => boolean;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isPolicy: Shape = (value) => isObject(value) && typeof value['name'] === 'string';

const isSnapshot: Shape = (value) =>
  isObject(value) &&
  typeof value['agent'] === 'string' &&
  typeof value['model'] === 'string' &&
  isObject(value['limits']) &&
  Array.isArray(value['tools']) &&
  Array.isArray(value['rules']) &&
  isPolicy(value['policy']);

const isContent: Shape = (value) =>
  Array.isArray(value) && value.every((part) => isObject(part) && typeof part['type'] === 'string');

const isPlan: Shape = (value) => isObject(value) && Array.isArray(value['parts']);

const SHAPES: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  messages: { content: isContent },
  turns: { snapshot: isSnapshot, policy: isPolicy },
  entries: { content: isContent },
  compactions: { plan: isPlan },
};

/** The first column of a row whose JSON is not what Holdfast writes there; `null` when all are. */
export function misshapenColumn(table: string, row: Readonly<Record<string, unknown>>): string | null {
  const found = Object.entries(SHAPES[table] ?? {}).find(([column, isShaped]) => !isShaped(row[column]));
  return found?.[0] ?? null;
}
