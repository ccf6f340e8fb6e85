import type { EntryKind } from '../../context/log/entry.ts';

/**
 * What the audit and the lab take for a fact that an agent may need again. Found by rules of their own, which
 * share nothing with the simulator, so that it cannot be good at them:
 *
 * - `requirement`: a sentence of a user's message, 15 to 300 characters, that asks for something
 *   (must, should, only, at most, do not, make sure, fix, add …). English.
 * - `path`: a path of two names or more, or a file name with an extension, from any entry.
 * - `identifier`: a name in camelCase, PascalCase of two words, snake_case, SCREAMING_CASE with an
 *   underscore, a hash of seven hexadecimal digits or more, a UUID, or capitals with a number of three digits or more, as tickets
 *   and orders have (`QX-1003`); not the names of standards that look alike (`SHA-256`, `ISO-8601`).
 * - `number`: a number of four digits or more, one with decimals, a version, or one with a unit.
 * - `error`: a line of a tool result, 15 to 300 characters, that speaks of an error.
 */
export type FactKind = 'requirement' | 'path' | 'identifier' | 'number' | 'error';

export const FACT_KINDS = [
  'requirement',
  'path',
  'identifier',
  'number',
  'error',
] as const satisfies readonly FactKind[];

export interface Fact {
  readonly kind: FactKind;
  readonly text: string;
  /** Characters from the start of the text in which it was found. */
  readonly offset: number;
}

/** Sentences and lines outside these lengths say too little, or are no sentence. Characters. */
const SHORTEST_LINE = 15;
const LONGEST_LINE = 300;
/** One entry that is a list of thousands of names must not be all that is asked for. */
const MOST_PER_KIND = 200;

const ASKS =
  /\b(?:must|should|shall|needs? to|have to|do not|don't|never|always|only|make sure|ensure|please|at most|at least|exactly|no more than|without|instead of|use|add|remove|delete|fix|keep|create|write|rename|implement|change|update|check|return)\b/i;
const ERROR =
  /\b(?:error|exception|failed|failure|fatal|cannot|could not|panic|traceback|denied|not found|undefined|timed? ?out|refused|invalid)\b/i;
/** Names of the system's errors, such as `ENOENT`. */
const ERROR_NAME = /\bE[A-Z]{4,}\b/;

const SENTENCE = /[^\n.!?]+(?:[.!?](?=\S)[^\n.!?]*)*[.!?]?/g;
const LINE = /[^\n]+/g;
const PATTERNS: Readonly<Record<'path' | 'identifier' | 'number', RegExp>> = {
  path: /(?:(?:~|\.{1,2})?\/)?(?:[\w@.-]+\/)+[\w@.-]*\w|\b[\w-]{2,}\.(?:[jt]sx?|m[jt]s|json|ya?ml|md|py|go|rs|java|rb|c|h|cpp|sh|sql|toml|lock|txt|csv|html|css|png|jpe?g|pdf)\b/g,
  identifier:
    /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\b(?!(?:UTF|UCS|SHA|MD|AES|RSA|HMAC|ISO|IEC|RFC|IEEE|ECMA|ES|DIN|EN|ANSI|CP)-)[A-Z][A-Z0-9]{1,9}(?:-\d{3,12})+(?![\w-])/g,
  number:
    /(?<![\w.-])(?:v?\d+\.\d+\.\d+(?:-[\w.]+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d{4,12}|\d+ ?(?:%|ms|MB|GB|kB|KB|px|tokens|bytes|seconds|minutes|hours|days|USD|EUR))(?![\w-]|\.\d)/g,
};

/** The facts of one entry's text, in order within each kind; a text that stands twice counts once. */
export function factsIn(kind: EntryKind, text: string): Fact[] {
  const lines: Fact[] =
    kind === 'user'
      ? linesIn(text, SENTENCE, (line) => ASKS.test(line), 'requirement')
      : kind === 'tool_result'
        ? linesIn(text, LINE, (line) => ERROR.test(line) || ERROR_NAME.test(line), 'error')
        : [];
  return [...lines, ...namesIn(text, 'path'), ...namesIn(text, 'identifier'), ...namesIn(text, 'number')];
}

function linesIn(text: string, pattern: RegExp, says: (line: string) => boolean, kind: FactKind): Fact[] {
  const found = new Map<string, Fact>();
  for (const match of text.matchAll(pattern)) {
    const line = match[0].trim();
    if (line.length < SHORTEST_LINE || line.length > LONGEST_LINE || !says(line)) continue;
    if (!found.has(line)) found.set(line, { kind, text: line, offset: match.index });
    if (found.size >= MOST_PER_KIND) break;
  }
  return [...found.values()];
}

function namesIn(text: string, kind: 'path' | 'identifier' | 'number'): Fact[] {
  const found = new Map<string, Fact>();
  for (const match of text.matchAll(PATTERNS[kind])) {
    const [name] = match;
    if (name.length < 4 && kind !== 'number') continue;
    if (name.length > LONGEST_LINE || found.has(name)) continue;
    found.set(name, { kind, text: name, offset: match.index });
    if (found.size >= MOST_PER_KIND) break;
  }
  return [...found.values()];
}
