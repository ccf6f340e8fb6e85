import { generateSession } from '../generated/generate-session.ts';
import { SeededRandom } from '../generated/random.ts';

/**
 * - `fact`: said by the user. `rule`: what the user wants from then on. `decision`: of the agent. `path`: in a tool result.
 * - `update`: the user says later that it is another value. `contradiction`: a later tool result says another one.
 */
export type PlantKind = 'fact' | 'rule' | 'decision' | 'path' | 'update' | 'contradiction';

export const PLANT_KINDS: readonly PlantKind[] = ['fact', 'rule', 'decision', 'path', 'update', 'contradiction'];

/** What was put into a session, to be asked for later. */
export interface Plant {
  readonly kind: PlantKind;
  /** In the words of the session, without the value. */
  readonly question: string;
  /** What holds: stands nowhere else in the session. */
  readonly value: string;
  /** What held before; `null` when nothing did. */
  readonly stale: string | null;
}

export interface PlantedSession {
  /** Messages of the OpenAI API. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly plants: readonly Plant[];
  /** Rules of the agent, pinned in every request. */
  readonly rules: readonly string[];
}

const QUALITIES =
  'amber brisk copper distant early faded gentle hollow inner jagged kindly lunar mellow narrow olive plain quiet rusty silent tidal'.split(
    ' ',
  );
const THINGS =
  'anchor barrel canyon dome engine fountain garden harbor island jetty kiln lantern meadow needle orchard pier quarry river signal tower'.split(
    ' ',
  );
const PARTS =
  'archive bearing cable drain entrance filter gauge hinge intake joint key ledge motor nozzle outlet pump rail sensor timer valve'.split(
    ' ',
  );
/** Share of messages of a role that get a sentence. */
const SHARES: Readonly<Record<string, number>> = { user: 1, assistant: 0.9, tool: 0.3 };
const RULES = 5;
/** Messages between a value and its update, at least. */
const UPDATE_DISTANCE = 20;
/** Messages between two of a user who speaks while the agent works: a generated session alone has some twenty in 420 answers. */
const STEERING_DISTANCE = 8;

/** A message of the OpenAI API. */
type Message = Readonly<Record<string, unknown>>;

interface OpenUpdate {
  readonly kind: 'update' | 'contradiction';
  readonly subject: string;
  readonly old: string;
  readonly from: number;
}

/**
 * A generated session of a coding agent with statements put into its messages: the same for the same seed and length. Every
 * subject and every value stands in one statement, or in two of an update, and nowhere else.
 *
 * @param steps answers of the agent, about
 */
export function plantedSession(seed: number, steps: number): PlantedSession {
  const planter = new Planter(seed);
  const messages = [...steered(generateSession('coding', seed, steps))].map((message, index) =>
    planter.plant(message, index),
  );
  const rules = Array.from(
    { length: RULES },
    () => `Never touch the ${planter.subject()}; its mark is ${planter.value()}.`,
  );
  return { messages, plants: planter.plants, rules };
}

/** A word of the user before an answer, now and then: never between calls and their results. */
function* steered(messages: readonly Message[]): Generator<Message> {
  let since = 0;
  for (const message of messages) {
    since = message.role === 'user' ? 0 : since + 1;
    if (message.role === 'assistant' && since > STEERING_DISTANCE) {
      since = 0;
      yield { role: 'user', content: 'Something for your work from here on.' };
    }
    yield message;
  }
}

class Planter {
  readonly plants: Plant[] = [];
  private readonly random: SeededRandom;
  private readonly used = new Set<string>();
  private open: OpenUpdate[] = [];

  constructor(seed: number) {
    this.random = new SeededRandom(seed ^ 0x5eed);
  }

  plant(message: Readonly<Record<string, unknown>>, index: number): Readonly<Record<string, unknown>> {
    const { role, content } = message;
    const share = typeof role === 'string' ? (SHARES[role] ?? 0) : 0;
    // An answer that only calls a tool says nothing.
    if (typeof content !== 'string' || content === '' || !this.random.chance(share)) return message;
    const sentence = this.sentence(role, index);
    return { ...message, content: `${content}\n${sentence}` };
  }

  private sentence(role: unknown, index: number): string {
    const due = this.open.find(({ kind, from }) => isSaidBy(kind, role) && index - from >= UPDATE_DISTANCE);
    if (due !== undefined) return this.close(due);
    if (role === 'assistant') return this.decision();
    if (role !== 'user') return this.random.chance(0.4) ? this.begin('contradiction', index) : this.path();
    const next = this.random.between(0, 2);
    if (next === 0) return this.begin('update', index);
    return next === 1 ? this.rule() : this.fact();
  }

  private fact(): string {
    const [subject, value] = [this.subject(), this.value()];
    this.add({ kind: 'fact', question: `By the way, the ${subject} answers to the code`, value, stale: null });
    return `By the way, the ${subject} answers to the code ${value}.`;
  }

  private rule(): string {
    const [subject, value] = [this.subject(), this.value()];
    this.add({ kind: 'rule', question: `From now on, open the ${subject} only with the pass`, value, stale: null });
    return `From now on, open the ${subject} only with the pass ${value}.`;
  }

  private decision(): string {
    const [subject, value] = [this.subject(), this.value()];
    this.add({ kind: 'decision', question: `Decision: for the ${subject} we take variant`, value, stale: null });
    return `Decision: for the ${subject} we take variant ${value}.`;
  }

  private path(): string {
    const subject = this.subject();
    const value = `data/${this.random.hex(6)}/${this.value()}.cfg`;
    this.add({ kind: 'path', question: `note: the ${subject} is configured in`, value, stale: null });
    return `note: the ${subject} is configured in ${value}`;
  }

  /** The first value of what will change. It is asked for once it has. */
  private begin(kind: OpenUpdate['kind'], from: number): string {
    const [subject, old] = [this.subject(), this.value()];
    this.open.push({ kind, subject, old, from });
    return statement(kind, subject, old);
  }

  private close(due: OpenUpdate): string {
    this.open = this.open.filter((each) => each !== due);
    const { kind, subject, old } = due;
    const value = this.value();
    this.add({ kind, question: questionOf(kind, subject), value, stale: old });
    return kind === 'update'
      ? `Correction: the ${subject} is set to ${value} now, no longer to what I said.`
      : `${statement(kind, subject, value)} (measured again)`;
  }

  private add(plant: Plant): void {
    this.plants.push(plant);
  }

  subject(): string {
    for (;;) {
      const subject = [QUALITIES, THINGS, PARTS]
        .map((words) => words[this.random.between(0, words.length - 1)])
        .join(' ');
      if (this.used.has(subject)) continue;
      this.used.add(subject);
      return subject;
    }
  }

  value(): string {
    return `${this.random.pick(['ax', 'bo', 'cu', 'dy', 'el', 'fi'])}${this.random.between(1_000, 9_999)}${this.random.hex(4)}`;
  }
}

function isSaidBy(kind: OpenUpdate['kind'], role: unknown): boolean {
  return kind === 'update' ? role === 'user' : role === 'tool';
}

function statement(kind: OpenUpdate['kind'], subject: string, value: string): string {
  return kind === 'update' ? `The ${subject} is set to ${value}.` : `reading of the ${subject}: ${value}`;
}

function questionOf(kind: OpenUpdate['kind'], subject: string): string {
  return kind === 'update' ? `The ${subject} is set to` : `reading of the ${subject}`;
}
