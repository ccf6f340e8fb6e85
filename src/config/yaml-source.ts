import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type { ConfigurationProblem } from './errors.ts';

/** A parsed YAML text that knows where each option stands. */
export interface YamlSource {
  readonly value: unknown;
  readonly problems: readonly ConfigurationProblem[];
  /** Place of an option, or of the deepest part of its path that is there. */
  place(path: readonly PropertyKey[]): { readonly file: string; readonly line: number; readonly column: number };
}

/** @param file Name shown in problems. */
export function readYaml(text: string, file: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, merge: true });
  function placeAt(offset: number): ReturnType<YamlSource['place']> {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }
  const problems = document.errors.map((error): ConfigurationProblem => ({
    code: 'syntax',
    option: '',
    message: `is not valid YAML: ${error.message}`,
    place: placeAt(error.pos[0]),
  }));
  return {
    value: problems.length > 0 ? null : document.toJS(),
    problems,
    place: (path) => placeAt(offsetOf(document, path)),
  };
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const key of path) {
    const next = childOf(node, key, document);
    if (next === null) break;
    offset = next.offset;
    node = next.node;
  }
  return offset;
}

type Child = { readonly node: Node | null; readonly offset: number };

function resolveAlias(node: Node | null, document: Document.Parsed): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node;
}

function childOf(parent: Node | null, key: PropertyKey, document: Document.Parsed): Child | null {
  const node = resolveAlias(parent, document);
  if (isMap<Node, Node | null>(node)) {
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    if (pair !== undefined) return { node: pair.value, offset: pair.key.range?.[0] ?? 0 };
    return node.items
      .filter(({ key: name }) => isScalar(name) && name.source === '<<')
      .reduce<Child | null>((found, { value }) => found ?? mergedChild(value, key, document), null);
  }
  if (isSeq<Node>(node)) {
    const item = node.items[Number(key)];
    return item === undefined ? null : { node: item, offset: item.range?.[0] ?? 0 };
  }
  return null;
}

/** An option that `<<: *other` or `<<: [*one, *other]` brought: it stands where the other is written. */
function mergedChild(merged: Node | null, key: PropertyKey, document: Document.Parsed): Child | null {
  const from = isSeq<Node>(merged) ? merged.items : [merged];
  return from.reduce<Child | null>((found, each) => found ?? childOf(each, key, document), null);
}
