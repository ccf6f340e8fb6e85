/** How a fact is found in a file: what the words behind a fact's name ask for. */
export type FactQuestion =
  /** `the value of "key"`: what stands behind the key, in JSON, YAML or a header line. */
  | { readonly kind: 'value'; readonly key: string }
  /** `the number after "…"` and `the number before "…"`. */
  | { readonly kind: 'number_after' | 'number_before'; readonly anchor: string }
  | { readonly kind: 'first_sentence' | 'first_heading' }
  /** Words that name no place: the items say it in words of their own, or nobody does. */
  | { readonly kind: 'own_words' };

export interface Fact {
  /** Name of the column. */
  readonly name: string;
  /** The task's words for it. */
  readonly words: string;
  readonly question: FactQuestion;
  /** Which of an item's files it stands in, when the words end with `in <file>` or `of <file>`. */
  readonly file?: string;
}

const QUOTED = /"(?:[^"\\]|\\.)*"|“[^”]*”/;
const FILE = /\b(?:in|of|from) (?:its |the |each )?`?([\w.@/-]+)`?\s*\.?$/i;

const FACT = /^`?([\w][\w /-]{0,40}?)`?\s*(?::\s*|\s+\()(.+?)\)?\s*[.,;]?$/;

/** A fact that every item asks for in words of its own: `- figure: what is asked in the line of the package`. */
export function parseColumn(text: string): Fact | undefined {
  const [, name, words] = FACT.exec(text.trim()) ?? [];
  return name === undefined || words === undefined ? undefined : { name, words, question: { kind: 'own_words' } };
}

/** `name: words`, or `name (words)`; `undefined` when the words ask for nothing that the reader can look for. */
export function parseFact(text: string): Fact | undefined {
  const [, name, words] = FACT.exec(text.trim()) ?? [];
  if (name === undefined || words === undefined) return undefined;
  const quoted = QUOTED.exec(words);
  const question = parseQuestion(words, quoted === null ? undefined : unquote(quoted[0]));
  if (question === undefined) return undefined;
  const after = quoted === null ? words : words.slice(quoted.index + quoted[0].length);
  const file = FILE.exec(after)?.[1];
  return file === undefined || /^(?:file|line|text|document)$/i.test(file)
    ? { name, words, question }
    : { name, words, question, file };
}

function unquote(text: string): string {
  if (!text.startsWith('"')) return text.slice(1, -1);
  try {
    return String(JSON.parse(text));
  } catch {
    // Not a JSON string: a backslash that stands for itself.
    return text.slice(1, -1);
  }
}

function parseQuestion(words: string, anchor: string | undefined): FactQuestion | undefined {
  if (anchor !== undefined && anchor !== '') {
    if (/\bnumber\b[^"“]*\bbefore\b/i.test(words)) return { kind: 'number_before', anchor };
    if (/\b(?:number|figure)\b[^"“]*\b(?:after|behind)\b/i.test(words)) return { kind: 'number_after', anchor };
    if (/\bvalue\b[^"“]*\bof\b/i.test(words)) return { kind: 'value', key: anchor };
    return undefined;
  }
  if (/\bfirst sentence\b/i.test(words)) return { kind: 'first_sentence' };
  if (/\bfirst heading\b/i.test(words)) return { kind: 'first_heading' };
  return undefined;
}
