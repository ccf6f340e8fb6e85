import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dialogue, DialogueQuestion, DialogueTurn } from './dialogue.ts';

const FILE = join(import.meta.dirname, 'written-dialogue.txt');
const NAMES: Readonly<Record<string, string>> = { G: 'Greta', T: 'Tomasz' };
const MINUTE = 60_000;

const SESSION = /^S (\S+ \S+)$/u;
const TURN = /^([GT]): (.*?)(?: #(\w+))?$/u;
const QUESTION = /^\? (\w+) (near|far) (.*)$/u;

/** The talk of two people that a hand wrote, with its questions; the head of the file says how it is written. */
export async function writtenDialogue(): Promise<Dialogue> {
  const turns: DialogueTurn[] = [];
  const questions: DialogueQuestion[] = [];
  const marked = new Map<string, number>();
  let now = 0;
  for (const line of (await readFile(FILE, 'utf8')).split('\n')) {
    const [, begin] = SESSION.exec(line) ?? [];
    if (begin !== undefined) now = Date.parse(`${begin.replace(' ', 'T')}:00Z`);
    const [, speaker = '', said = '', mark] = TURN.exec(line) ?? [];
    if (speaker !== '') {
      now += MINUTE;
      if (mark !== undefined) marked.set(mark, turns.length);
      turns.push({ text: `${NAMES[speaker] ?? ''}: ${said}`, saidAt: new Date(now) });
    }
    const [, answer = '', distance, question] = QUESTION.exec(line) ?? [];
    if (question === undefined) continue;
    const at = marked.get(answer);
    if (at === undefined) throw new Error(`${FILE} marks no turn "${answer}" that answers "${question}"`);
    questions.push({ question, answer: at, isFar: distance === 'far' });
  }
  return { turns, questions };
}
