import { SeededRandom } from '../../../random.ts';
import { CHATTER, NAMES } from './chatter.ts';
import { FIRST_TOPICS } from './first-topics.ts';
import { SECOND_TOPICS } from './second-topics.ts';
import type { Topic } from './topic.ts';

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

const TOPICS = [...FIRST_TOPICS, ...SECOND_TOPICS] as const;
const SESSIONS = 20;
/** Tellings of one session, from and to. */
const TELLINGS = [3, 5] as const;
/** Turns of chatter before each telling, and at the end. */
const CHATTER_TURNS = [1, 4] as const;
const DAY = 86_400_000;
const BEGIN = Date.UTC(2025, 0, 10, 9);

/** The same for the same seed. Each telling is asked for once; others of its topic stand in the way. */
export function dialogue(seed: number): Dialogue {
  const writer = new Writer(seed);
  for (let session = 0; session < SESSIONS; session += 1) writer.session();
  return { turns: writer.turns, questions: writer.questions };
}

class Writer {
  readonly turns: DialogueTurn[] = [];
  readonly questions: DialogueQuestion[] = [];
  readonly #random: SeededRandom;
  readonly #people: readonly [string, string];
  readonly #told = new Set<string>();
  #now = BEGIN;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    const first = this.#random.between(0, NAMES.length - 1);
    const second = (first + this.#random.between(1, NAMES.length - 1)) % NAMES.length;
    this.#people = [NAMES[first] ?? '', NAMES[second] ?? ''];
  }

  session(): void {
    this.#now += this.#random.between(4, 20) * DAY;
    const tellings = this.#random.between(...TELLINGS);
    for (let telling = 0; telling < tellings; telling += 1) {
      this.#chatter();
      this.#tell();
    }
    this.#chatter();
  }

  #chatter(): void {
    for (let turns = this.#random.between(...CHATTER_TURNS); turns > 0; turns -= 1) {
      this.#say(this.#random.between(0, 1), this.#random.pick(CHATTER), {});
    }
  }

  #tell(): void {
    const topic = this.#random.pick(TOPICS);
    const speaker = this.#random.between(0, 1);
    const values = this.#draw(topic);
    const key = `${TOPICS.indexOf(topic)} ${speaker} ${values[topic.key] ?? ''}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const isAsked = this.#random.chance(0.5);
    if (isAsked)
      this.#say(1 - speaker, this.#random.pick(topic.asks), { ...values, name: this.#people[speaker] ?? '' });
    const answer = this.#say(speaker, this.#random.pick(isAsked ? topic.answers : topic.says), values);
    if (this.#random.chance(0.8)) {
      this.#say(1 - speaker, this.#random.pick(topic.replies), { ...values, name: this.#people[speaker] ?? '' });
    }
    const question = fill(this.#random.pick(topic.questions), { ...values, name: this.#people[speaker] ?? '' });
    this.questions.push({ question: question.replaceAll(/\bmy (?=\p{L})/gu, 'the '), answer, isFar: false });
  }

  #draw({ slots }: Topic): Record<string, string> {
    return Object.fromEntries(Object.entries(slots).map(([slot, values]) => [slot, this.#random.pick(values)]));
  }

  #say(speaker: number, text: string, values: Readonly<Record<string, string>>): number {
    const [name = '', other = ''] = speaker === 0 ? this.#people : this.#people.toReversed();
    this.#now += 60_000;
    const said = fill(text, { name, other, ...values });
    this.turns.push({ text: `${name}: ${said.charAt(0).toUpperCase()}${said.slice(1)}`, saidAt: new Date(this.#now) });
    return this.turns.length - 1;
  }
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/gu, (_, slot: string) => values[slot] ?? slot);
}
