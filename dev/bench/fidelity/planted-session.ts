import { generateSession } from '../generated/generate-session.ts';
import { SeededRandom } from '../../random.ts';

/**
 * - `fact`: said by the user. `rule`: what the user wants from then on. `decision`: of the agent. `path`: in a tool result.
 * - `update`: the user says later that it is another value. `contradiction`: a later tool result says another one.
 */
export type PlantKind = 'fact' | 'rule' | 'decision' | 'path' | 'update' | 'contradiction';

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

/** Nothing is planted in these: what people say in between is short, or of another script. */
const REMARKS = ['ok', 'Weiter.', 'yes, do that', '先检查右边的阀门，再看日志', '次はポンプの圧力を確認して'];

/** A word of the user before an answer, now and then: never between calls and their results. */
function* steered(messages: readonly Message[]): Generator<Message> {
  let since = 0;
  let times = 0;
  for (const message of messages) {
    since = message.role === 'user' ? 0 : since + 1;
    if (message.role === 'assistant' && since > STEERING_DISTANCE) {
      since = 0;
      times += 1;
      if (times % 4 === 0) yield { role: 'user', content: REMARKS[(times / 4 - 1) % REMARKS.length] };
      yield { role: 'user', content: `Something for your work from here on, remark ${times}.` };
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
    if (typeof content !== 'string' || content === '' || REMARKS.includes(content)) return message;
    const said = role === 'user' ? `${content}${this.words()}` : role === 'tool' ? `${content}${this.data()}` : content;
    if (!this.random.chance(share)) return said === content ? message : { ...message, content: said };
    return { ...message, content: `${said}\n${this.sentence(role, index)}` };
  }

  /** What people write around a sentence that counts: nothing, a paragraph, several hundred words, or the same again and again. */
  private words(): string {
    const kind = this.random.between(0, 3);
    if (kind === 0) return '';
    if (kind === 1)
      return `\n${'Please look at the station again and tell me what you see. '.repeat(this.random.between(10, 25))}`;
    const sentences = Array.from(
      { length: kind === 2 ? this.random.between(2, 6) : this.random.between(12, 25) },
      () => `We looked at ${this.phrase()} and ${this.phrase()} near ${this.phrase()}.`,
    );
    return `\n${sentences.join(' ')}`;
  }

  /** Now and then a line without blanks, as builds and interfaces print. */
  private data(): string {
    if (!this.random.chance(0.2)) return '';
    const [one, other] = [this.random.hex(6), this.random.hex(6)];
    return this.random.chance(0.5)
      ? `\nfunction a${one}(b,c){return b.d${other}(c)?b.e(c,${this.random.between(100, 999)}):null}`
      : `\n{"id":"${one}","state":"open","values":[${this.random.between(1, 99)},${this.random.between(1, 99)}],"parent":"${other}"}`;
  }

  private phrase(): string {
    return [QUALITIES, THINGS, PARTS].map((words) => words[this.random.between(0, words.length - 1)]).join(' ');
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
      const subject = this.phrase();
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
