import { isCommon, wordOf } from './common-words.ts';

/** Words of a sentence, from and to; longer ones are lists or licenses without a full stop. */
const WORDS = [5, 60] as const;
/** Of its tokens that must be words of letters: what has fewer is code, a table or a list of names. */
const LETTERED = 0.7;
/** Of its words that must be common ones. Headings and lists of names have hardly any. */
const COMMON = 0.15;

/** Sentences of a Markdown or plain text, without code, tables, markup and addresses. */
export function sentencesOfDocument(text: string): readonly string[] {
  const lines = text
    .replaceAll(/^[ \t]*(```|~~~)[^]*?(?:^[ \t]*\1|(?![^]))/gmu, '\n')
    .replaceAll(/<!--[^]*?-->/gu, ' ')
    .split('\n')
    // A row of a table is none; a heading, an item and a quotation begin anew.
    .map((line) => (/^\s*(?:\||[-=*_]{3,}\s*$)/u.test(line) ? '' : line))
    .map((line) => line.replace(/^\s*(?:#+|[-*+]|\d+[.)]|>)\s+/u, '\n\n').replace(/^#+.*$/u, '$&\n'));
  return sentencesOf(withoutMarkup(lines.join('\n')));
}

/** Sentences of the comments of a file of declarations, without their marks, tags, types and examples. */
export function sentencesOfComments(declarations: string): readonly string[] {
  const sentences: string[] = [];
  for (const [comment] of declarations.matchAll(/\/\*\*[^]*?\*\/|(?:^[ \t]*\/\/ .*\n)+/gmu)) {
    const text = comment
      .replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)[ \t]?|\*\/$/gmu, '')
      // Up to the next tag.
      .replaceAll(/@example[^]*?(?=^\s*@|(?![^]))/gmu, '')
      .replaceAll(/\{@\w+\s+([^}|\s]+)[^}]*\}/gu, '$1')
      .replaceAll(/^\s*@(?:param|property|template|typeParam)\s+(?:\{[^}]*\}\s*)?\S+\s*(?:-\s*)?/gmu, '\n\n')
      .replaceAll(/^\s*@\w+(?:[ \t]+\{[^}]*\})?/gmu, '\n\n');
    sentences.push(...sentencesOfDocument(text));
  }
  return sentences;
}

function withoutMarkup(text: string): string {
  return text
    .replaceAll(/!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])/gu, ' ')
    .replaceAll(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/gu, '$1')
    .replaceAll(/<\/?[a-z][^>]*>/giu, ' ')
    .replaceAll(/https?:\/\/\S+/gu, ' ')
    .replaceAll(/[*_]{2,3}|`|(?<=\s)[*_](?=\w)|(?<=\w)[*_](?=[\s.,;:])/gu, '');
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/\n\s*\n/u)
    .flatMap((paragraph) => paragraph.replaceAll(/\s+/gu, ' ').split(/(?<=[.!?:]["')]?) /u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => isProse(sentence.split(' ')));
}

function isProse(tokens: readonly string[]): boolean {
  if (tokens.length < WORDS[0] || tokens.length > WORDS[1]) return false;
  if (tokens.filter((token) => wordOf(token) !== null).length < LETTERED * tokens.length) return false;
  return tokens.filter(isCommon).length >= COMMON * tokens.length;
}
