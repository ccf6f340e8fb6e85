import { parseSync, visitorKeys } from 'oxc-parser';

/** A node of the ESTree that oxc-parser returns; the fields that differ by its type are read through `part` and `wordOf`. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** The path from the program down to a node, the node itself last. */
export type Path = readonly [...above: Node[], node: Node];

/** @throws when the source does not parse */
export function parse(file: string, source: string): Node {
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  if (!isNode(program)) throw new Error(`${file}: no program`);
  return program;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** @throws when the field holds no node, which its type must have */
export function part(node: Node, field: string): Node {
  const value = node[field];
  if (!isNode(value)) throw new Error(`${node.type} has no ${field}`);
  return value;
}

/** An operator, or a name; '' when there is none. */
export function wordOf(node: Node, field: string): string {
  const value = node[field];
  return typeof value === 'string' ? value : '';
}

/** The nodes directly below one, in the order of the source. */
export function childNodes(node: Node): Node[] {
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const value = node[key];
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.filter(isNode);
  });
}

/** What exists at run time of these is the expression alone. */
const TYPED_EXPRESSIONS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

export function isTypeOnly(node: Node): boolean {
  return node.type.startsWith('TS') && !TYPED_EXPRESSIONS.has(node.type);
}

/** Visits every node that exists at run time. `visit` returns false to leave out what is below. */
export function walk(node: Node, visit: (path: Path) => boolean, above: readonly Node[] = []): void {
  if (isTypeOnly(node)) return;
  const path: Path = [...above, node];
  if (!visit(path)) return;
  for (const child of childNodes(node)) walk(child, visit, path);
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

export function isFunction(node: Node): boolean {
  return FUNCTIONS.has(node.type);
}

/** The node of a path and the one above it. */
export function lastTwo(path: Path): { readonly node: Node; readonly above: Node | undefined } {
  return { node: last(path), above: path.at(-2) };
}

export function last(path: Path): Node {
  const node = path.at(-1);
  if (node === undefined) throw new Error('an empty path');
  return node;
}
