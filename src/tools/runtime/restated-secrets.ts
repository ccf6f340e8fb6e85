import { redactSecrets } from './redact-secrets.ts';

/** Stands in the place of a value that is a secret elsewhere. */
const RESTATED = '[redacted: said to be secret]';

/** Shorter values stand in too many texts. */
const SHORTEST_VALUE = 4;
const SHORTEST_OPAQUE_VALUE = 8;
/** Letters alone, in lower case, are a word: "postgres" and "test" are passwords of many a test, and no secret. */
const SHORTEST_PLAIN_PASSWORD = 10;
const SHORTEST_PLAIN_VALUE = 20;

/** `aws_secret_access_key = `: says what the secret is for, and is none. */
const NAME_OF_KEY = /^\w{0,64}key['"]?[ \t]{0,16}(?:=>?|:)(?=[^=]{8})/i;
/** A key as it is written, with the marks of base64 that stand in it: its pieces may be too short to be known by themselves. */
const WHOLE_KEY = /[A-Za-z0-9+/_-]{16,}={0,2}/g;

/** Only such texts have secrets that are known by what stands beside them; a search for it is faster than looking for all forms. */
const CONTEXT =
  /:\/\/[^\s/]{0,256}:[^\s/]{0,256}@|(?:passw|secret|token|key)[\w-]{0,32}['"]?[ \t]{0,8}(?:=>?|:)|-----BEGIN [A-Z ]{0,32}PRIVATE KEY/i;

/**
 * Values that redaction takes out of the sources for the words around them, and that the text says without these: the password of
 * a connection string, what an assignment to a key holds. Alone they have no form by which they would be known.
 * @param sources texts of any length; each takes as long as its redaction
 */
export async function restatedSecrets(text: string, sources: Iterable<string>): Promise<ReadonlySet<string>> {
  const restated = new Set<string>();
  for (const source of sources) {
    if (!CONTEXT.test(source)) continue;
    const { removed } = await redactSecrets(source);
    for (const value of removed.flatMap(valuesOf)) if (text.includes(value)) restated.add(value);
  }
  return restated;
}

/** The text with each of these values replaced where it is no part of a longer word, and in how many places that was. */
export function withoutSecrets(
  text: string,
  values: ReadonlySet<string>,
): { readonly text: string; readonly count: number } {
  if (values.size === 0) return { text, count: 0 };
  // The longest first: one may hold another.
  const longestFirst = [...values].sort((a, b) => b.length - a.length).map(literally);
  let count = 0;
  const redacted = text.replaceAll(
    new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${longestFirst.join('|')})(?![\p{L}\p{N}])`, 'gu'),
    () => {
      count += 1;
      return RESTATED;
    },
  );
  return { text: redacted, count };
}

function literally(value: string): string {
  return value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** What gives a secret away without the rest of its place. Names of hosts and users, and plain words, do not. */
function valuesOf(removed: string): readonly string[] {
  const passwords = [...removed.matchAll(/:\/\/[^\s/@:]{0,256}:([^\s@/]{1,256})@/g)].flatMap(([, password = '']) => [
    password,
    decoded(password),
  ]);
  const unnamed = removed.replace(NAME_OF_KEY, '');
  const others = unnamed.replaceAll(/:\/\/[^\s/]{0,512}/g, ' ').split(/[\s"'`,;=<>()[\]{}:@/?&|]+/);
  // Not of the path of a URL: it may be named alone.
  const keys = [...unnamed.replaceAll(/:\/\/[^\s?]{0,4096}/g, ' ').matchAll(WHOLE_KEY)].map(([key]) => key);
  const withoutPadding = keys.map((key) => key.replace(/=+$/, ''));
  return [...new Set([...passwords.filter(isPassword), ...others.filter(isOpaque), ...keys, ...withoutPadding])];
}

function isPassword(value: string): boolean {
  return value.length >= (isPlainWord(value) ? SHORTEST_PLAIN_PASSWORD : SHORTEST_VALUE);
}

function isOpaque(value: string): boolean {
  if (value.length >= SHORTEST_PLAIN_VALUE) return true;
  return value.length >= SHORTEST_OPAQUE_VALUE && /\p{L}/u.test(value) && /\p{N}/u.test(value);
}

function isPlainWord(value: string): boolean {
  return /^\p{Ll}+$/u.test(value);
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
