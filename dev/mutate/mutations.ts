import { sqlMutations } from './sql-mutations.ts';
import { childNodes, isFunction, last, lastTwo, parse, part, walk, wordOf } from './syntax-tree.ts';
import type { Node, Path } from './syntax-tree.ts';

/** A change of the source that a test should notice. */
export interface Mutation {
  /** Relative to the project, with slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

type Change = Pick<Mutation, 'start' | 'end' | 'replacement'>;

const SWAPPED_OPERATORS = new Map(
  Object.entries({
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '===': '!==',
    '!==': '===',
    '-': '+',
    '*': '/',
    '/': '*',
    '%': '*',
  }),
);

/** Methods that a call may be replaced by its object for. */
const DROPPED_METHODS = new Set(
  'filter sort toSorted reverse toReversed slice trim trimStart trimEnd toLowerCase toUpperCase'.split(' '),
);

const SWAPPED_METHODS = new Map(
  Object.entries({
    some: 'every',
    every: 'some',
    min: 'max',
    max: 'min',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
  }),
);

const TESTED = new Set(['IfStatement', 'ConditionalExpression', 'WhileStatement', 'DoWhileStatement']);
/** Names of loggers and of what only helps an engine, a debugger or a test. */
const UNOBSERVABLE_CALLS =
  /^(?:this\.)?(?:[\w.]*\b(?:logger|log|console)\b|Object\.freeze|Error\.captureStackTrace|reachCrashPoint)/u;
/** Constants of how often something is looked at and how much is done at once: another number changes the pace, and no result. */
const PACE = /(?:^|_)(?:POLL|LOOK|PAUSE|INTERVAL|BATCH|CONNECTIONS)(?:_|$)/u;
/** Words such as codes and names of fields; other strings are prose. */
const CODE = /^[A-Za-z][\w-]*$/u;

/** Every change that is worth a draw, in the order of the source. */
export function findMutations(file: string, source: string): Mutation[] {
  const lineStarts = [...source.matchAll(/^/gmu)].map(({ index }) => index);
  const found: Mutation[] = [];
  walk(parse(file, source), (path) => {
    if (isUnobservable(path, source)) return false;
    for (const change of changesOf(path, source)) {
      const line = lineStarts.findLastIndex((start) => start <= change.start) + 1;
      found.push({ file, line, ...change });
    }
    return true;
  });
  return found;
}

function isUnobservable(path: Path, source: string): boolean {
  const { above, node } = lastTwo(path);
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true;
  if (node.type === 'ExportNamedDeclaration' && node['source'] !== null) return true;
  const call = node.type === 'ExpressionStatement' ? part(node, 'expression') : node;
  if (call.type === 'CallExpression') return UNOBSERVABLE_CALLS.test(source.slice(call.start, call.end));
  // Sentences of an error, and its details.
  return node.type === 'NewExpression' && above?.type === 'ThrowStatement';
}

function changesOf(path: Path, source: string): Change[] {
  const node = last(path);
  const text = ({ start, end }: Node): string => source.slice(start, end);
  if (TESTED.has(node.type)) {
    const { start, end } = part(node, 'test');
    return [replaced({ start, end }, `!(${source.slice(start, end)})`)];
  }
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operatorChanges(node, text);
    case 'Literal':
      return literalChanges(path);
    case 'ExpressionStatement':
      return isRemovable(part(node, 'expression')) ? [replaced(node, ';')] : [];
    case 'ThrowStatement':
      return [replaced(node, ';')];
    case 'CallExpression':
      return callChanges(node, text);
    case 'BlockStatement':
      return earlyReturn(path);
    case 'TaggedTemplateExpression':
      return sqlMutations(text(node)).map(({ start, end, replacement }) => ({
        start: node.start + start,
        end: node.start + end,
        replacement,
      }));
    default:
      return [];
  }
}

function replaced({ start, end }: { start: number; end: number }, replacement: string): Change {
  return { start, end, replacement };
}

function operatorChanges(node: Node, text: (node: Node) => string): Change[] {
  const [left, right, operator] = [part(node, 'left'), part(node, 'right'), wordOf(node, 'operator')];
  // `list[index] ?? 0` is what the compiler asks for, although the place is known to be there.
  if (operator === '??' && left['computed'] === true && right.type === 'Literal') return [];
  if (operator === '??') return [replaced(node, text(left))];
  if (node.type === 'LogicalExpression')
    return [replaced(node, `(${text(left)}) ${operator === '&&' ? '||' : '&&'} (${text(right)})`)];
  const swapped = SWAPPED_OPERATORS.get(operator);
  return swapped === undefined ? [] : [{ start: left.end, end: right.start, replacement: ` ${swapped} ` }];
}

function literalChanges(path: Path): Change[] {
  const { above, node } = lastTwo(path);
  if (above === undefined || above.type === 'ImportExpression') return [];
  if (above['key'] === node && (above['computed'] === false || above.type === 'ImportAttribute')) return [];
  // `override readonly name = 'SomeError'`, which shows in stack traces only.
  if (above.type === 'PropertyDefinition' && wordOf(part(above, 'key'), 'name') === 'name') return [];
  if (above.type === 'VariableDeclarator' && PACE.test(wordOf(part(above, 'id'), 'name'))) return [];
  // `list[place] ?? 0`, which only the types ask for.
  if (above.type === 'LogicalExpression' && above['operator'] === '??' && part(above, 'left')['computed'] === true) {
    return [];
  }
  const value = node['value'];
  if (typeof value === 'boolean') return [replaced(node, String(!value))];
  if (typeof value === 'number') return [replaced(node, value === 0 ? '1' : '0')];
  return typeof value === 'string' && CODE.test(value) ? [replaced(node, "'mutated'")] : [];
}

function isRemovable(expression: Node): boolean {
  if (expression.type === 'AwaitExpression') return isRemovable(part(expression, 'argument'));
  if (expression.type === 'CallExpression') return part(expression, 'callee').type !== 'Super';
  return expression.type === 'AssignmentExpression' || expression.type === 'UpdateExpression';
}

function callChanges(node: Node, text: (node: Node) => string): Change[] {
  const callee = part(node, 'callee');
  if (callee.type !== 'MemberExpression' || callee['computed'] === true) return [];
  const [object, property] = [part(callee, 'object'), part(callee, 'property')];
  const name = wordOf(property, 'name');
  if (DROPPED_METHODS.has(name)) return [replaced(node, text(object))];
  const swapped = SWAPPED_METHODS.get(name);
  return swapped === undefined ? [] : [replaced(property, swapped)];
}

/** Of a function that returns no value: it does nothing. */
function earlyReturn(path: Path): Change[] {
  const { above, node: body } = lastTwo(path);
  if (above === undefined || !isFunction(above) || above['body'] !== body) return [];
  const [first] = childNodes(body);
  let returnsValue = false;
  walk(body, (inner) => {
    const node = last(inner);
    if (node.type === 'ReturnStatement' && node['argument'] !== null) returnsValue = true;
    return !isFunction(node);
  });
  if (first === undefined || returnsValue) return [];
  return [replaced({ start: first.start, end: first.start }, 'return; ')];
}
