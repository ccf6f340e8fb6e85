import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { childNodes, declarationOf, isFunction, last, lastTwo, parse, walk, wordOf } from './syntax-tree.ts';
import type { Node, Path } from './syntax-tree.ts';

/** A use of a name: in a function, or for the value of another of the module's declarations. */
interface Use {
  readonly function: Node | undefined;
  readonly declaration: string;
}

interface Import {
  /** The file that is imported. */
  readonly from: string;
  readonly imported: string;
  readonly local: string;
  /** Of `export { … } from`. */
  readonly isExport: boolean;
}

interface Module {
  readonly uses: ReadonlyMap<string, readonly Use[]>;
  readonly imports: readonly Import[];
  readonly functions: readonly Node[];
}

export interface Users {
  /** Outermost functions that use the value, by file. */
  readonly functions: ReadonlyMap<string, ReadonlySet<Node>>;
  /** Test files that import it themselves. */
  readonly tests: ReadonlySet<string>;
}

const EVERYTHING = '*';

/**
 * Who uses the value of a module's declaration, directly or for another declaration's value. A module computes those once, when
 * the first test of a process loads it, so that executing them does not tell whose they are.
 */
export class ModuleUsers {
  private readonly modules: ReadonlyMap<string, Module>;

  /** @param sources text by path, relative to the project */
  constructor(sources: ReadonlyMap<string, string>) {
    this.modules = new Map([...sources].map(([file, source]) => [file, readModule(file, source)]));
  }

  usersOf(file: string, declaration: string): Users {
    const functions = new Map<string, Set<Node>>();
    const tests = new Set<string>();
    const seen = new Set<string>();
    const waiting: [file: string, name: string][] = [[file, declaration]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [at, name] = next;
      if (seen.has(next.join(' '))) continue;
      seen.add(next.join(' '));
      if (at.endsWith('.test.ts')) tests.add(at);
      const own = functions.get(at) ?? new Set();
      functions.set(at, own);
      const module = this.modules.get(at);
      // A statement without a name: whatever the module does may depend on it.
      if (name === '') for (const each of module?.functions ?? []) own.add(each);
      for (const use of module?.uses.get(name) ?? []) {
        if (use.function !== undefined) own.add(use.function);
        else waiting.push([at, use.declaration]);
      }
      waiting.push(...this.importersOf(at, name));
    }
    return { functions, tests };
  }

  private importersOf(file: string, name: string): [file: string, local: string][] {
    return [...this.modules].flatMap(([importer, { imports }]) =>
      imports
        .filter(({ from, imported }) => from === file && (imported === name || imported === EVERYTHING))
        .map(({ local, isExport }): [string, string] => [importer, isExport && local === EVERYTHING ? name : local]),
    );
  }
}

function readModule(file: string, source: string): Module {
  const program = parse(file, source);
  const uses = new Map<string, Use[]>();
  const functions = new Set<Node>();
  walk(program, (path) => {
    const node = last(path);
    if (node.type === 'ImportDeclaration') return false;
    const outermost = path.find(isFunction);
    if (outermost !== undefined) functions.add(outermost);
    if (node.type !== 'Identifier' || isNameOnly(path)) return true;
    const name = wordOf(node, 'name');
    const use = { function: outermost, declaration: outermost === undefined ? (declarationOf(path) ?? '') : '' };
    uses.set(name, [...(uses.get(name) ?? []), use]);
    return true;
  });
  return { uses, imports: childNodes(program).flatMap((node) => importsOf(file, node)), functions: [...functions] };
}

/** A property, a key or the declaration itself. */
function isNameOnly(path: Path): boolean {
  const { above, node } = lastTwo(path);
  if (above === undefined || above['computed'] === true) return false;
  if (above['shorthand'] === true) return false;
  return above['property'] === node || above['key'] === node || above['id'] === node;
}

function importsOf(file: string, node: Node): Import[] {
  const nodes = childNodes(node);
  const specifier = wordOf(nodes.find((child) => child === node['source']) ?? node, 'value');
  const from = normalize(join(dirname(file), specifier));
  if (!specifier.startsWith('.') || !existsSync(from)) return [];
  if (node.type === 'ExportAllDeclaration') return [{ from, imported: EVERYTHING, local: EVERYTHING, isExport: true }];
  const isExport = node.type === 'ExportNamedDeclaration';
  const specifiers = nodes.filter(({ type }) => type.endsWith('Specifier'));
  return specifiers.map((each) => {
    const name = (field: string): string =>
      wordOf(childNodes(each).find((child) => child === each[field]) ?? each, 'name') || EVERYTHING;
    const [imported, local] = isExport ? ['local', 'exported'] : ['imported', 'local'];
    return { from, imported: name(imported), local: name(local), isExport };
  });
}
