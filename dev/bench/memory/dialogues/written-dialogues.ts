import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'written');
const MINUTE = 60_000;

const SESSION = /^S (\S+T\S+)$/u;
const TURN = /^(\p{Lu}): (.*?)(?: #(\w+))?$/u;
const QUESTION = /^\? (\w+) (near|far) (.*)$/u;

export interface DialogueTurn {
  /** `Name: …`. */
  readonly text: string;
  readonly saidAt: Date;
}

export interface DialogueQuestion {
  readonly question: string;
  /** Index of the turn that answers it. */
  readonly answer: number;
  /** It has hardly a word of its answer. */
  readonly isFar: boolean;
}

/** Months of talk between two people, and questions about it. */
export interface Dialogue {
  readonly turns: readonly DialogueTurn[];
  readonly questions: readonly DialogueQuestion[];
}

export interface WrittenDialogue extends Dialogue {
  /** Of the file, which tells who speaks: "greta-and-tomasz". */
  readonly name: string;
}

/** Written talks of two people with their questions; the head of each file says what it is. By name. */
export async function writtenDialogues(): Promise<readonly WrittenDialogue[]> {
  const files = (await readdir(FOLDER)).toSorted();
  return Promise.all(files.map(async (file) => readDialogue(file, await readFile(join(FOLDER, file), 'utf8'))));
}

function readDialogue(file: string, text: string): WrittenDialogue {
  const name = file.replace(/\.txt$/u, '');
  const speakers = new Map(name.split('-and-').map((each) => [each.charAt(0).toUpperCase(), capitalized(each)]));
  const turns: DialogueTurn[] = [];
  const questions: DialogueQuestion[] = [];
  const marked = new Map<string, number>();
  let now = Number.NaN;
  for (const line of text.split('\n')) {
    const [, begin] = SESSION.exec(line) ?? [];
    if (begin !== undefined) now = Date.parse(`${begin}:00Z`);
    const [, letter = '', said = '', mark] = TURN.exec(line) ?? [];
    const speaker = speakers.get(letter);
    if (speaker !== undefined) {
      now += MINUTE;
      if (mark !== undefined) marked.set(mark, turns.length);
      turns.push({ text: `${speaker}: ${said}`, saidAt: new Date(now) });
    }
    const [, answer = '', distance, question] = QUESTION.exec(line) ?? [];
    if (question === undefined) continue;
    const at = marked.get(answer);
    if (at === undefined) throw new Error(`${file} marks no turn "${answer}" that answers "${question}"`);
    questions.push({ question, answer: at, isFar: distance === 'far' });
  }
  return { name, turns, questions };
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
