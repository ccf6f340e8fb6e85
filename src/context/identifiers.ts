/** What a text names so exactly that a wrong character makes it useless. */
const IDENTIFIERS: readonly RegExp[] = [
  /\bhttps?:\/\/[^\s<>"')\]]+/gi,
  /\b[\w.+-]+@[\w-]+\.[\w.-]*\w/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g,
  /\b[A-Z][A-Z0-9]{1,9}-\d+\b/g,
  /#\d{2,}\b/g,
  /\b\d{6,}\b/g,
];

/** Keys of tool arguments whose value is a path or an address. */
const PATH_KEY = /^(?:.*_)?(?:path|paths|file|files|filename|uri|url|target|source|destination)$/i;

/** Identifiers in order of their first appearance, each once. */
export function identifiersIn(text: string): string[] {
  const found = IDENTIFIERS.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({ at: match.index, value: match[0].replace(/[.,;:]+$/, '') })),
  );
  return [...new Set(found.sort((left, right) => left.at - right.at).map(({ value }) => value))];
}

/** Paths that the arguments of a tool call name. */
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
