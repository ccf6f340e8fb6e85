import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { COMMON_WORDS, wordOf } from '../../../dev/bench/memory/natural/common-words.ts';
import { sentencesOfComments, sentencesOfDocument } from '../../../dev/bench/memory/natural/prose.ts';
import { SeededRandom } from '../../../dev/random.ts';
import { nameOf, rankOf } from '../../../dev/bench/memory/natural/rare-names.ts';
import { readSentences } from '../../../dev/bench/memory/natural/read-sentences.ts';
import { NaturalCorpus } from '../../../dev/bench/memory/natural-corpus.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const ENTRIES = 4_000;
/** After how many entries the different words are counted. */
const COUNTED = [1_000, 2_000, ENTRIES];

describe('the text of the search bench', () => {
  let sources: ReadonlyMap<string, readonly string[]>;
  let corpus: NaturalCorpus;
  let texts: readonly string[];
  /** Words of all entries in order; `null` for tokens that are no words of letters. */
  let tokens: readonly (string | null)[];
  const vocabulary: { readonly words: number; readonly different: number }[] = [];

  beforeAll(async () => {
    sources = await readSentences(PROJECT);
    corpus = new NaturalCorpus([...sources.values()].flat());
    texts = Array.from({ length: ENTRIES }, (_, index) => corpus.text(index));
    const all: (string | null)[] = [];
    const different = new Set<string>();
    for (const [index, text] of texts.entries()) {
      for (const token of text.split(' ')) {
        const word = wordOf(token);
        all.push(word);
        if (word !== null) different.add(word);
      }
      if (COUNTED.includes(index + 1)) vocabulary.push({ words: all.length, different: different.size });
    }
    tokens = all;
  });

  it('is prose: nearly all of it are words of letters, and common words are two of five of them', () => {
    const words = tokens.filter((token) => token !== null);
    expect(words.length / tokens.length).toBeGreaterThan(0.93);
    const common = words.filter((word) => COMMON_WORDS.has(word)).length;
    expect(common / words.length).toBeGreaterThan(0.38);
    expect(common / words.length).toBeLessThan(0.55);
  });

  it('has the commonest words of English as its own', () => {
    const counts = new Map<string, number>();
    for (const token of tokens) if (token !== null) counts.set(token, (counts.get(token) ?? 0) + 1);
    const commonest = [...counts].toSorted(([, one], [, other]) => other - one).map(([word]) => word);
    expect(commonest[0]).toBe('the');
    expect(commonest.slice(0, 20).filter((word) => COMMON_WORDS.has(word)).length).toBeGreaterThanOrEqual(17);
  });

  it('has a vocabulary that goes on growing as that of a collection of news does: 44 × n^0.49 words of n', () => {
    expect(vocabulary).toHaveLength(COUNTED.length);
    for (const { words, different } of vocabulary) {
      const expected = 44 * words ** 0.49;
      expect(different).toBeGreaterThan(0.75 * expected);
      expect(different).toBeLessThan(1.25 * expected);
    }
  });

  it('is of hundreds of packages, none of which gives much of it', () => {
    const sizes = [...sources.values()].map((sentences) => sentences.join(' ').length);
    const all = sizes.reduce((sum, each) => sum + each, 0);
    expect(sizes.filter((characters) => characters > 0).length).toBeGreaterThan(200);
    expect(Math.max(...sizes) / all).toBeLessThan(0.03);
  });

  it('hardly begins twice in the same way', () => {
    const beginnings = texts.map((text) => text.split(' ').slice(0, 12).join(' '));
    expect(new Set(beginnings).size).toBeGreaterThan(0.98 * ENTRIES);
  });

  it('asks with 5 to 12 words of letters, common ones and others among them, that an entry has in a row', () => {
    const questions = Array.from({ length: 200 }, (_, index) => corpus.question(index, ENTRIES));
    const lengths = new Set(questions.map((question) => question.split(' ').length));
    expect([...lengths].toSorted((one, other) => one - other)).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
    for (const question of questions) {
      const words = question.split(' ');
      expect(words.every((word) => /^\p{L}+(?:['’-]\p{L}+)*$/u.test(word))).toBe(true);
      const common = words.filter((word) => COMMON_WORDS.has(word)).length;
      expect(common).toBeGreaterThanOrEqual(1);
      expect(common).toBeLessThanOrEqual(words.length - 2);
    }
    const [first] = questions;
    expect(texts.some((_, index) => corpus.answers(index, first ?? ''))).toBe(true);
  });

  it('is the same for the same seed, and another one for another', () => {
    const sentences = [...sources.values()].flat().slice(0, 10_000);
    const [first, again, other] = [1, 1, 2].map((seed) => {
      const one = new NaturalCorpus(sentences, seed);
      return [one.text(7), one.question(3, 100)];
    });
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });
});

describe('the sentences of a project', () => {
  let project: string;

  beforeEach(async () => {
    project = await mkdtemp(join(tmpdir(), 'holdfast-sentences-'));
  });

  afterEach(() => rm(project, { recursive: true }));

  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  };

  it('come in the order of paths, of a package its documents first, and none twice', async () => {
    await write('node_modules/zeta/a.d.ts', '/** This is what a reader of the declarations is told. */');
    await write(
      'node_modules/zeta/readme.md',
      'This is what a reader of the package is told.\n\nThis is the first of the documents in the project.',
    );
    await write('node_modules/zeta/node_modules/inner/readme.md', 'This is what no reader of the corpus is told.');
    await write('node_modules/@scope/beta/notes.md', 'This is one of the notes in a package of a scope.');
    await write('docs/second.md', 'This is the second of the documents in the project.');
    await write('README.md', 'This is the first of the documents in the project.');
    expect([...(await readSentences(project))]).toEqual([
      [
        '.',
        ['This is the first of the documents in the project.', 'This is the second of the documents in the project.'],
      ],
      ['node_modules/@scope/beta', ['This is one of the notes in a package of a scope.']],
      [
        'node_modules/zeta',
        ['This is what a reader of the package is told.', 'This is what a reader of the declarations is told.'],
      ],
    ]);
    await expect(NaturalCorpus.read(project)).rejects.toThrow('too little documentation');
  });
});

describe('a sentence', () => {
  it('of a document is prose: no code, no table, no list of names, no markup', () => {
    expect(
      sentencesOfDocument(
        [
          '# All the options that there are',
          'Read the [manual](https://a.example/b) before you\nstart the `server`. It is **not** short!',
          '```ts\nconst the = of + to + and + a + in;\n```',
          '| the | of | and | to | in |\n| --- | --- | --- | --- | --- |',
          '- **fix** the reader of a file with no end',
          '- bump foo-bar, baz-qux, quux, corge, grault',
        ].join('\n\n'),
      ),
    ).toEqual([
      'All the options that there are',
      'Read the manual before you start the server.',
      'fix the reader of a file with no end',
    ]);
  });

  it('of declarations is said in their comments, without marks, tags and examples', () => {
    const declarations = `
      /**
       * Reads the file that
       * the {@link Reader} names.
       * @example
       * const the = read(of, to, and, a, in);
       * @param path - the path of the file to read
       * @returns {string} what is in the file
       */
      export declare function read(the: of, and: to, a: in): the;`;
    expect(sentencesOfComments(declarations)).toEqual([
      'Reads the file that the Reader names.',
      'the path of the file to read',
      'what is in the file',
    ]);
  });
});

describe('invented names', () => {
  it('are one a rank, also beyond those of two syllables', () => {
    const ranks = [
      ...Array.from({ length: 50_000 }, (_, rank) => rank),
      1_166_400,
      1_166_401,
      1_166_399,
      9_000_000_000,
    ];
    expect(new Set(ranks.map((rank) => nameOf(rank).toLowerCase())).size).toBe(ranks.length);
  });

  it('come by a law under which four times as many draws bring twice as many different ones', () => {
    const random = new SeededRandom(1);
    const different = (draws: number): number =>
      new Set(Array.from({ length: draws }, () => rankOf(random.next()))).size;
    expect(different(400_000) / different(100_000)).toBeGreaterThan(1.7);
    expect(different(400_000) / different(100_000)).toBeLessThan(2.3);
  });
});
