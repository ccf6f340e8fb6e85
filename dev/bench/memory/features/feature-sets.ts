import { writtenDialogues } from '../dialogues/written-dialogues.ts';
import { CHINESE, JAPANESE, KOREAN } from './unspaced-talk.ts';

export interface FeatureQuestion {
  readonly query: string;
  /** Indexes of the texts of which any is right. */
  readonly answers: readonly number[];
}

/** Questions that show what one part of the search brings. */
export interface FeatureSet {
  readonly name: string;
  readonly texts: readonly string[];
  /** Of the tool call whose result each text is; absent: the user said them. */
  readonly paths?: readonly string[];
  readonly questions: readonly FeatureQuestion[];
}

/** Source files, which hold identifiers. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const MISSPELT_FROM = 5;
const PHRASE_WORDS = 4;
const IDENTIFIER = /\b[a-z]+(?:[A-Z][a-z]+){2,}\b/gu;
/** An identifier of so many files is no question for one of them. */
const MOST_FILES = 3;
const COPIES = 12;

export async function featureSets(sources: readonly SourceFile[]): Promise<FeatureSet[]> {
  const talks = await writtenDialogues();
  return [
    ...talks.map((talk) => ({
      name: 'a misspelt word',
      texts: talk.turns.map(({ text }) => text),
      questions: talk.questions.flatMap(({ question, answer, isFar }, index) =>
        isFar ? [] : [{ query: misspell(question, talk.turns[answer]?.text ?? '', index), answers: [answer] }],
      ),
    })),
    ...talks.map((talk) => phrases(talk.turns.map(({ text }) => text))),
    ...talks.map((talk) => nearDuplicates(talk)),
    ...[CHINESE, JAPANESE, KOREAN].map(({ name, lines }) => ({
      name,
      texts: lines.map(([text]) => text),
      questions: lines.map(([, query], index) => ({ query, answers: [index] })),
    })),
    identifiers(sources),
    paths(sources),
  ];
}

/** The longest word that question and answer share, as typing spoils it: letters exchanged, left out, doubled or wrong. */
function misspell(question: string, answer: string, index: number): string {
  const said = new Set(wordsIn(answer));
  const shared = wordsIn(question).filter((word) => word.length >= MISSPELT_FROM && said.has(word));
  const word = shared.toSorted((one, other) => other.length - one.length)[0];
  if (word === undefined) return question;
  const at = Math.floor(word.length / 2);
  const [before, here, next, after] = [word.slice(0, at), word.charAt(at), word.charAt(at + 1), word.slice(at + 2)];
  const spoiled = [before + next + here + after, before + next + after, before + here + here + next + after];
  const wrong = [...spoiled, `${before}x${next}${after}`][index % 4] ?? word;
  return question.replace(new RegExp(String.raw`\b${word}\b`, 'iu'), wrong);
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** Four words in a row, common ones among them, in quotation marks. */
function phrases(texts: readonly string[]): FeatureSet {
  const questions = texts.flatMap((text, index) => {
    const words = text.split(' ').slice(1);
    if (index % 4 > 0 || words.length < 2 * PHRASE_WORDS) return [];
    const middle = Math.floor(words.length / 2) - 2;
    const phrase = words
      .slice(middle, middle + PHRASE_WORDS)
      .join(' ')
      .replaceAll(/^\P{L}+|["\P{L}]+$/gu, '');
    if (/["“”]/u.test(phrase)) return [];
    const answers = texts.flatMap((other, at) => (other.toLowerCase().includes(phrase.toLowerCase()) ? [at] : []));
    return [{ query: `"${phrase}"`, answers }];
  });
  return { name: 'four words in quotation marks', texts, questions };
}

/** A talk in which a long report was pasted again and again, each time with another word changed, that has words of the questions. */
function nearDuplicates(talk: Awaited<ReturnType<typeof writtenDialogues>>[number]): FeatureSet {
  const near = talk.questions.filter(({ isFar }) => !isFar);
  const texts = talk.turns.map(({ text }) => text);
  const copies = near.slice(0, 5).flatMap((_, group) => {
    const report = near
      .slice(group * 5, group * 5 + 5)
      .map(({ question }) => question.replace('?', '.'))
      .join(' ');
    return Array.from(
      { length: COPIES },
      (_unused, copy) => `report of the day: ${report} ${'abcdefghijkl'.charAt(copy)}`,
    );
  });
  const questions = near.slice(0, 25).map(({ question, answer }) => ({ query: question, answers: [answer] }));
  return { name: 'beside twelve near-duplicates', texts: [...texts, ...copies], questions };
}

/** Identifiers asked for by their words: "read query terms" for `readQueryTerms`. */
function identifiers(sources: readonly SourceFile[]): FeatureSet {
  const texts = sources.map(({ text }) => text);
  const files = new Map<string, Set<number>>();
  for (const [index, text] of texts.entries()) {
    for (const [name] of text.matchAll(IDENTIFIER)) files.set(name, (files.get(name) ?? new Set()).add(index));
  }
  const questions = [...files].flatMap(([name, found], index) =>
    found.size > MOST_FILES || index % 5 > 0
      ? []
      : [{ query: name.replaceAll(/(?=[A-Z])/gu, ' ').toLowerCase(), answers: [...found] }],
  );
  const of = { texts, paths: sources.map(() => '') };
  return { name: 'words of an identifier', ...of, questions: questions.slice(0, 200) };
}

/** Files asked for by the words of their names, which need not stand in them. */
function paths(sources: readonly SourceFile[]): FeatureSet {
  const questions = sources.flatMap(({ path }, index) => {
    const name = path.replace(/^.*\//u, '').replace(/\.\w+$/u, '');
    return name.includes('-') ? [{ query: `what does ${name.replaceAll('-', ' ')} do?`, answers: [index] }] : [];
  });
  const of = { texts: sources.map(({ text }) => text), paths: sources.map(({ path }) => path) };
  return { name: 'words of a path', ...of, questions: questions.slice(0, 200) };
}
