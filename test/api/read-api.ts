import { fileURLToPath } from 'node:url';
import type { Node } from 'typescript/unstable/ast';
import { API, NodeBuilderFlags, SignatureKind, SymbolFlags } from 'typescript/unstable/sync';
import type { NodeHandle, Project, Symbol, Type } from 'typescript/unstable/sync';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a doc comment says. */
export interface Doc {
  readonly text: string;
  /** `@param options.limit at most 500`: by `limit`. */
  readonly params: ReadonlyMap<string, string>;
  readonly throws: readonly string[];
  readonly returns: string;
}

/** An option of a method, or a field of what it answers. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly text: string;
  /** Fields of an object that has no name of its own. */
  readonly fields: readonly Field[];
}

export interface Method {
  readonly name: string;
  readonly doc: Doc;
  readonly parameters: readonly { readonly field: Field; readonly options: readonly Field[] }[];
  readonly returns: string;
}

/** What a package exports under a name. */
export interface Export {
  readonly name: string;
  readonly isPublic: boolean;
  readonly doc: Doc;
  /** Of a function; otherwise empty. */
  readonly calls: readonly Method[];
  /** Of a class or an interface. */
  readonly methods: readonly Method[];
  readonly fields: readonly Field[];
  /** How TypeScript writes a type that has no fields, such as a union. */
  readonly written: string;
}

export type ReadApi = ReadonlyMap<string, Export>;

/** Reads the exports of source files by TypeScript's own checker. */
export function readApi(publicFiles: readonly string[], innerFiles: readonly string[]): ReadApi {
  const api = new API({ cwd: ROOT });
  try {
    const snapshot = api.updateSnapshot({ openProject: `${ROOT}tsconfig.build.json` });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error('tsconfig.build.json is no project');
    const exportsOf = (file: string): Named[] => {
      const source = project.program.getSourceFile(`${ROOT}${file}`);
      const module = source && project.checker.getSymbolAtLocation(source);
      if (module === undefined) throw new Error(`${file} is no module`);
      return project.checker.getExportsOfModule(module).map((symbol) => ({
        name: symbol.name,
        symbol: (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : project.checker.getAliasedSymbol(symbol),
      }));
    };
    return new Reader(project, publicFiles.flatMap(exportsOf), innerFiles.flatMap(exportsOf)).read();
  } finally {
    api.close();
  }
}

interface Named {
  readonly name: string;
  readonly symbol: Symbol;
}

/** The data of an event is shown field by field, also where the source has a name for it. */
const EVENTS = 'EventDataByKind';
/** Characters: what is shorter is clearer as it is than by its name. */
const SHORTEST_NAMED = 40;
/** Characters of a type, above which the source's own words for it are shown. */
const LONGEST = 100;

class Reader {
  readonly #checker: Project['checker'];
  readonly #project: Project;
  readonly #public: readonly Named[];
  readonly #inner: readonly Named[];
  /** Names of exported types by how their fields are written, since the checker forgets the name of a type that zod made. */
  readonly #names: [written: string, name: string][] = [];
  /** Names under which the package exports what the source calls otherwise. */
  readonly #renamed = new Map<string, string>();

  constructor(project: Project, ofPackage: readonly Named[], inner: readonly Named[]) {
    const { checker } = project;
    this.#checker = checker;
    this.#project = project;
    this.#public = ofPackage;
    this.#inner = inner;
    for (const { name, symbol } of ofPackage) {
      if (symbol.name !== name) this.#renamed.set(symbol.name, name);
      if ((symbol.flags & (SymbolFlags.TypeAlias | SymbolFlags.Interface)) === 0) continue;
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      const written = this.#expanded(type);
      if (written.length > SHORTEST_NAMED) this.#names.push([written, name]);
    }
    this.#names.sort(([one], [other]) => other.length - one.length);
  }

  /** As the checker writes it where it has forgotten its name. */
  #expanded(type: Type): string {
    if (type.isUnionType()) return (type.getTypes() ?? []).map((each) => this.#expanded(each)).join(' | ');
    const properties = this.#properties(type);
    if (properties.length === 0) return tidy(this.#write(type, NodeBuilderFlags.InTypeAlias));
    const fields = properties.map((each) => {
      const own = this.#write(this.#type(each));
      return `${each.name}${isOptional(each) ? '?' : ''}: ${own};`;
    });
    return tidy(`{ ${fields.join(' ')} }`);
  }

  read(): ReadApi {
    const of = (named: readonly Named[], isPublic: boolean) =>
      named.map((each) => [each.name, this.#export(each, isPublic)] as const);
    return new Map([...of(this.#inner, false), ...of(this.#public, true)]);
  }

  #export({ name, symbol }: Named, isPublic: boolean): Export {
    const isType = (symbol.flags & (SymbolFlags.Type | SymbolFlags.Class)) !== 0;
    const checker = this.#checker;
    const type = isType ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeOfSymbol(symbol);
    if (type === undefined) throw new Error(`${name} has no type`);
    const members = isType ? this.#properties(type).filter((each) => each.getParent()?.name !== 'Error') : [];
    const [methods, fields] = [members.filter(isMethod), members.filter((each) => !isMethod(each))];
    return {
      name,
      isPublic,
      doc: this.#doc(symbol),
      calls: isType ? [] : this.#calls(name, type, symbol),
      methods: methods.flatMap((each) => this.#calls(each.name, this.#type(each), each)),
      fields: fields.map((each) => this.#field(each, { isOfEvents: name === EVENTS })),
      written: type.isUnionType()
        ? this.#named(this.#expanded(type), name)
        : tidy(this.#write(type, NodeBuilderFlags.InTypeAlias)),
    };
  }

  #calls(name: string, type: Type, symbol: Symbol): Method[] {
    const written = this.#write(type);
    return this.#checker.getSignaturesOfType(type, SignatureKind.Call).map((signature) => {
      const doc = this.#doc(symbol);
      const returns = this.#checker.getReturnTypeOfSignature(signature);
      return {
        name,
        doc,
        parameters: signature.getParameters().map((parameter) => {
          const field = this.#field(parameter);
          // A parameter that is taken apart has a name of the checker's making.
          const isTakenApart = parameter.name.startsWith('__');
          const isLeftOut = written.includes(isTakenApart ? '}?: ' : `${parameter.name}?: `);
          const given = this.#checker.getNonNullableType(this.#type(parameter)) ?? this.#type(parameter);
          const name = isTakenApart ? 'options' : field.name;
          return { field: { ...field, name, isOptional: isLeftOut }, options: this.#options(given, doc) };
        }),
        returns: returns === undefined ? 'void' : this.#shown(returns, signature.declaration),
      };
    });
  }

  /** The options of an object; of another type, such as a text, none. */
  #options(type: Type, { params }: Doc): Field[] {
    return this.#properties(type).map((each) => this.#field(each, { more: params.get(each.name) ?? '' }));
  }

  /** @param options.more what the comment of a method says of the option */
  #field(symbol: Symbol, { isOfEvents = false, more = '' } = {}): Field {
    const type = this.#type(symbol);
    const own = this.#checker.getNonNullableType(type) ?? type;
    const isNameless = own.isIntersectionType() || ['__type', '__object'].includes(own.getSymbol()?.name ?? '');
    const isLeftOut = isOptional(symbol);
    const shown = this.#shown(type, symbol.valueDeclaration);
    return {
      name: symbol.name,
      type: isLeftOut ? shown.replace(/ \| undefined$/u, '').replace(/^\((.*)\)$/u, '$1') : shown,
      isOptional: isLeftOut,
      text: [this.#doc(symbol).text, more].filter((text) => text !== '').join(' '),
      fields:
        isOfEvents || (isNameless && shown.includes('{')) ? this.#properties(own).map((each) => this.#field(each)) : [],
    };
  }

  /** A type as TypeScript writes it, with exported names in it; a long one as the source writes it, where that is shorter. */
  #shown(type: Type, declaration: NodeHandle | undefined): string {
    const written = this.#named(tidy(this.#write(type)));
    if (written.length <= LONGEST) return written;
    const source = this.#sourceOf(declaration);
    return source !== null && source.length < written.length ? source : written;
  }

  #sourceOf(declaration: NodeHandle | undefined): string | null {
    const node = declaration?.resolve(this.#project);
    if (node === undefined || !('type' in node)) return null;
    const { type } = node as { readonly type?: Node };
    return type === undefined ? null : tidy(oneLine(type.getText()));
  }

  #type(symbol: Symbol): Type {
    const type = this.#checker.getTypeOfSymbol(symbol);
    if (type === undefined) throw new Error(`${symbol.name} has no type`);
    return type;
  }

  #write(type: Type, flags = 0): string {
    return this.#checker.typeToString(type, undefined, NodeBuilderFlags.NoTruncation | flags);
  }

  /** @param own name of a type that is to be shown itself */
  #named(written: string, own = ''): string {
    return this.#names
      .filter(([, name]) => name !== own)
      .reduce((text, [fields, name]) => text.replaceAll(`Readonly<${fields}>`, name).replaceAll(fields, name), written)
      .replaceAll(/\b[A-Z]\w+/gu, (name) => this.#renamed.get(name) ?? name);
  }

  /** Without private ones; of what is no object, none. */
  #properties(type: Type): Symbol[] {
    if ((!type.isObjectType() && !type.isIntersectionType()) || this.#checker.isArrayLikeType(type)) return [];
    if (this.#checker.getSignaturesOfType(type, SignatureKind.Call).length > 0) return [];
    return this.#checker.getPropertiesOfType(type).filter(({ name }) => !name.startsWith('__#'));
  }

  #doc(symbol: Symbol): Doc {
    const tags = symbol.getJsDocTags(this.#checker).map(({ name, text }) => ({ name, text: oneLine(textOf(text)) }));
    const ofKind = (kind: string): string[] => tags.filter(({ name }) => name === kind).map(({ text }) => text);
    const params = ofKind('param').map((text) => /^(?:options\.)?(\S+)\s+([^]*)$/u.exec(text));
    return {
      text: symbol.getDocumentationComment(this.#checker),
      params: new Map(params.map((match) => [match?.[1] ?? '', match?.[2] ?? ''])),
      throws: ofKind('throws'),
      returns: ofKind('returns').join(' '),
    };
  }
}

const textOf = (text: unknown): string => (typeof text === 'string' ? text : '');
const isOptional = ({ flags }: Symbol): boolean => (flags & SymbolFlags.Optional) !== 0;
const isMethod = ({ flags }: Symbol): boolean => (flags & SymbolFlags.Method) !== 0;

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

/** As one would write it: single quotes, and without what every field has. */
function tidy(type: string): string {
  return type
    .replaceAll('readonly ', '')
    .replaceAll(/"([^"]*)"/gu, "'$1'")
    .replaceAll(/; \}/gu, ' }')
    .replaceAll(/(ZodType<\w+), unknown, \$ZodTypeInternals<\w+, unknown>>/gu, '$1>')
    .replaceAll(/Readonly<(Record<[^<>]*>)>/gu, '$1')
    .replaceAll(', any, any>', '>')
    .replaceAll(/(\?: [^;{}]*) \| undefined/gu, '$1')
    .trim();
}
