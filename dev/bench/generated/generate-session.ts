import { SeededRandom } from '../../random.ts';

/** What an agent of a generated session does: change a program, read many documents, or talk with a customer. */
export type SessionKind = 'coding' | 'reading' | 'support';

export const SESSION_KINDS: readonly SessionKind[] = ['coding', 'reading', 'support'];

/** A message of the OpenAI API. */
type Message = Readonly<Record<string, unknown>>;

interface Script {
  readonly random: SeededRandom;
  readonly messages: Message[];
  calls: number;
}

/**
 * A long agent session, invented: the same for the same kind, seed and length. Its texts hold
 * requirements, paths, identifiers, numbers and error lines, as real ones do; its sizes follow recorded
 * sessions of coding agents (most results a few hundred characters, some of many thousands).
 *
 * @param steps answers of the agent, about
 */
export function generateSession(kind: SessionKind, seed: number, steps: number): readonly Message[] {
  const script: Script = { random: new SeededRandom(seed), messages: [], calls: 0 };
  const scene = { coding, reading, support }[kind];
  script.messages.push({ role: 'system', content: INSTRUCTIONS[kind] });
  for (let task = 1; script.calls < steps; task += 1) scene(script, task);
  return script.messages;
}

const INSTRUCTIONS: Readonly<Record<SessionKind, string>> = {
  coding: 'You change programs in a repository. Run the tests before you say that something works.',
  reading: 'You read documents and report what they say. Name the document with every figure.',
  support: 'You help customers of a travel agency. Look a booking up before you speak about it.',
};

const AREAS = ['billing', 'parser', 'scheduler', 'storage', 'gateway', 'report', 'session', 'import'] as const;
const VERBS = ['load', 'merge', 'encode', 'resolve', 'flush', 'verify', 'schedule', 'split'] as const;
const NOUNS = ['Invoice', 'Token', 'Window', 'Ledger', 'Cursor', 'Batch', 'Header', 'Region'] as const;
const WORDS = (
  'the ledger of a quarter names each payment once while the note below it explains why a line was moved and who agreed ' +
  'with the change before the review closed on a day that nobody had planned for'
).split(' ');

function say(script: Script, content: string): void {
  script.messages.push({ role: 'user', content });
}

function answer(script: Script, content: string): void {
  script.calls += 1;
  script.messages.push({ role: 'assistant', content });
}

/** One answer with a tool call, and its result. */
function step(script: Script, of: { said?: string; name: string; input: object; result: string }): void {
  script.calls += 1;
  const id = `call_${script.random.hex(12)}`;
  const call = { id, type: 'function', function: { name: of.name, arguments: JSON.stringify(of.input) } };
  script.messages.push({ role: 'assistant', content: of.said ?? null, tool_calls: [call] });
  script.messages.push({ role: 'tool', tool_call_id: id, content: of.result });
}

function prose(random: SeededRandom, words: number): string {
  const picked = Array.from({ length: words }, () => WORDS[random.between(0, WORDS.length - 1)] ?? '');
  return picked.map((word, index) => (index % 14 === 13 ? `${word}.\n` : word)).join(' ');
}

/** Recorded agents read a little most of the time and a lot now and then. */
function lines(random: SeededRandom): number {
  return random.chance(0.12) ? random.between(150, 400) : random.between(8, 60);
}

function functionName(random: SeededRandom): string {
  return `${random.pick(VERBS)}${random.pick(NOUNS)}${random.pick(NOUNS)}`;
}

function source(random: SeededRandom, count: number): string {
  return Array.from({ length: count }, (_, line) => {
    const name = functionName(random);
    return `${line + 1}\tconst ${name} = ${random.pick(VERBS)}_${random.pick(AREAS)}(${random.between(1_000, 99_999)}, '${random.hex(8)}');`;
  }).join('\n');
}

function coding(script: Script, task: number): void {
  const { random } = script;
  const area = random.pick(AREAS);
  const file = `src/${area}/${random.pick(VERBS)}-${random.pick(NOUNS).toLowerCase()}.ts`;
  const limit = random.between(1_000, 90_000);
  say(
    script,
    `Task ${task}: ${functionName(random)} in ${file} must accept at most ${limit} rows. Do not change src/${area}/index.ts. Make sure that the tests of ${area} still pass.`,
  );
  for (let round = random.between(6, 14); round > 0; round -= 1) {
    const path = random.chance(0.3) ? file : `src/${random.pick(AREAS)}/${random.pick(VERBS)}-${random.hex(4)}.ts`;
    step(script, { name: 'read_file', input: { path }, result: source(random, lines(random)) });
    if (random.chance(0.5)) {
      const oldText = source(random, 3);
      step(script, {
        said: `The limit belongs into ${functionName(random)}.`,
        name: 'edit_file',
        input: { path, old_text: oldText, new_text: oldText.replace('const', 'let') },
        result: `edited ${path}`,
      });
    }
    if (random.chance(0.4)) step(script, testRun(random, area));
  }
  answer(script, `${file} accepts at most ${limit} rows now, and the tests of ${area} pass.`);
}

function testRun(random: SeededRandom, area: string): Parameters<typeof step>[1] {
  const passed = Array.from(
    { length: random.between(5, 60) },
    () => `  ok ${functionName(random)} (${random.between(1, 900)} ms)`,
  );
  const failure = `  Error: ${functionName(random)} returned ${random.between(1_000, 9_999)} instead of ${random.between(1_000, 9_999)} at test/${area}.test.ts:${random.between(10, 400)}`;
  return {
    name: 'run_command',
    input: { command: `npm test -- test/${area}.test.ts` },
    result: [...passed, ...(random.chance(0.5) ? [failure] : [])].join('\n'),
  };
}

function reading(script: Script, task: number): void {
  const { random } = script;
  const count = random.between(15, 30);
  say(
    script,
    `Part ${task}: read all ${count} letters in letters/part-${task}, one by one. For each, report its reference, its amount and its date. Never skip a letter.`,
  );
  for (let letter = 1; letter <= count; letter += 1) {
    const reference = `REF_${random.hex(4).toUpperCase()}_${random.between(1_000, 9_999)}`;
    const amount = `${random.between(1, 99)},${String(random.between(0, 999)).padStart(3, '0')}.50`;
    const head = `Reference: ${reference}\nAmount: ${amount}\nDate: 2026-${String(random.between(1, 12)).padStart(2, '0')}-${String(random.between(1, 28)).padStart(2, '0')}\n\n`;
    step(script, {
      name: 'read_file',
      input: { path: `letters/part-${task}/${letter}.txt` },
      result: head + prose(random, random.chance(0.1) ? random.between(2_000, 5_000) : random.between(100, 900)),
    });
  }
  answer(script, `Part ${task} has ${count} letters, and all of them are read.`);
}

function support(script: Script): void {
  const { random } = script;
  const booking = `${random.hex(3).toUpperCase()}${random.between(100, 999)}`;
  const customer = `${random.pick(['ada', 'noor', 'emil', 'june', 'otto'])}_${random.pick(['kim', 'berg', 'silva', 'okoye'])}_${random.between(1_000, 9_999)}`;
  say(
    script,
    `I am ${customer} and need to change booking ${booking}. Please keep the fare below ${random.between(200, 900)} EUR.`,
  );
  step(script, {
    name: 'get_booking',
    input: { booking_id: booking },
    result: JSON.stringify({
      booking,
      customer,
      flights: flights(random, random.between(4, 40)),
      insurance: random.chance(0.5),
    }),
  });
  for (let wish = random.between(2, 5); wish > 0; wish -= 1) {
    say(
      script,
      `What else leaves on 2026-0${random.between(1, 9)}-1${random.between(0, 9)}? I must arrive before ${random.between(10, 20)}:30.`,
    );
    step(script, {
      name: 'search_flights',
      input: { date: `2026-0${random.between(1, 9)}-11` },
      result: JSON.stringify(flights(random, random.between(10, 80))),
    });
    if (random.chance(0.2)) {
      const code = random.between(1_000, 9_999);
      step(script, {
        name: 'book',
        input: { booking_id: booking },
        result: `Error ${code}: payment of ${customer} was denied`,
      });
    }
    answer(script, `Flight HF${random.between(100, 999)} for ${random.between(90, 700)} EUR arrives in time.`);
  }
}

function flights(random: SeededRandom, count: number): readonly object[] {
  return Array.from({ length: count }, () => ({
    flight: `HF${random.between(1_000, 9_999)}`,
    fare: `${random.between(80, 900)}.${random.between(10, 99)}`,
    seats_left: random.between(0, 200),
    code: random.hex(10),
  }));
}
