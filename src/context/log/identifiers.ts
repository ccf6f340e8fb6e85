/** What a text names so exactly that a wrong character makes it useless; looked for in each of its names. */
const IDENTIFIERS: readonly RegExp[] = [
  /\bhttps?:\/\/.+/gi,
  /\b[\w.+-]+@[\w-]+\.[\w.-]*\w/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g,
  /\b[A-Z][A-Z0-9]{1,9}-\d+\b/g,
  /#\d{2,}\b/g,
  /\b\d{6,}\b/g,
];

const PATH_KEY = /^(?:.*_)?(?:path|paths|file|files|filename|uri|url|target|source|destination)$/i;

/** Neither a part of an identifier, nor between its parts. */
const BETWEEN_NAMES = /[\s<>"')\]]+/u;
/** What addresses hold and other identifiers do not. */
const BETWEEN_SHORT_NAMES = /[^\w.+@#-]+/u;

/** A longer one is data. Characters. */
const LONGEST_NAME = 2_000;
/** Of an address of mail, a UUID, a commit (RFC 5321 allows 254). Characters. */
const LONGEST_SHORT_NAME = 300;

/**
 * Identifiers in order of their first appearance, each once. Patterns see one name at a time: over a long text without blanks their
 * time would grow with its square.
 */
export function identifiersIn(text: string): string[] {
  return [...new Set(namesIn(text).flatMap(identifiersInName))];
}

function namesIn(text: string): string[] {
  return text.split(BETWEEN_NAMES).flatMap((name) => {
    const isAddress = name.length <= LONGEST_NAME && name.includes('://');
    return isAddress ? [name] : name.split(BETWEEN_SHORT_NAMES).filter((each) => each.length <= LONGEST_SHORT_NAME);
  });
}

function identifiersInName(name: string): string[] {
  const found = IDENTIFIERS.flatMap((pattern) =>
    [...name.matchAll(pattern)].map((match) => ({ at: match.index, value: match[0].replace(/[.,;:]+$/, '') })),
  );
  return found.sort((left, right) => left.at - right.at).map(({ value }) => value);
}

export function pathsInArguments(argumentsText: string): string[] {
  return fileArguments(argumentsText).filter((value) => /[./\\]/.test(value));
}

/** Values of arguments that are called after paths or files, whatever they look like. */
export function fileArguments(argumentsText: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(argumentsText);
  } catch {
    // Arguments that are not JSON name no file that could be trusted.
    return [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) =>
    PATH_KEY.test(key) ? stringsOf(item).filter(isName) : [],
  );
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function isName(text: string): boolean {
  return text.length > 1 && text.length <= 300 && !/[\n\r]/.test(text);
}
