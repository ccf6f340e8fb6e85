import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRESETS } from '../../../src/config/presets.ts';
import { generateSession } from '../../../dev/bench/generated/generate-session.ts';
import { fixture } from '../../import/read-fixture.ts';
import type { LabResult } from '../../../packages/lab/src/run-lab.ts';
import { poolFacts, sampleFacts } from '../../../packages/lab/src/facts/fact-pool.ts';
import { loadSessions } from '../../../packages/lab/src/session/lab-session.ts';
import { saysFact, searchedText } from '../../../src/verify/audit/find-fact.ts';
import { preset, useLab, writeSession } from './lab-harness.ts';

const { replay } = useLab();

let directory: string;
let coding: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-replay-'));
  coding = await writeSession(directory, 'coding.jsonl', generateSession('coding', 7, 18));
});

afterAll(() => rm(directory, { recursive: true }));

/** Of which that session fills several. */
const WINDOW = 16_000;
const prices = 'anthropic/claude-sonnet-5-5';
let replayed: Promise<LabResult> | undefined;

/** The session under every preset, replayed once for all tests that look at it; the first of them is `default`. */
const everyPreset = (): Promise<LabResult> =>
  (replayed ??= replay(coding, { windows: [WINDOW], policies: Object.values(PRESETS), prices }));

describe('a replay under every preset', () => {
  test('compacts without orphans or overflows, and says where each fact is', async () => {
    const { presets, replays } = await everyPreset();
    expect(presets.map(({ name }) => name)).toEqual(Object.keys(PRESETS));
    for (const figures of presets) {
      const { tail, userMessages, summary, ledger } = figures.factsWhere;
      expect(figures, figures.name).toMatchObject({ window: WINDOW, orphans: 0, overflows: 0, exhausted: 0 });
      expect(figures.passes, figures.name).toBeGreaterThan(0);
      expect(figures.maxFill, figures.name).toBeLessThanOrEqual(1);
      expect(tail + userMessages + summary + ledger).toBe(figures.factsInView);
      expect(figures.factsInView + figures.factsByRecall + figures.factsLost).toBe(figures.facts);
    }
    for (const { passes } of replays)
      for (const pass of passes) expect(pass.tokensAfter).toBeLessThan(pass.tokensBefore);
  });

  test('is the same each time', async () => {
    const first = await everyPreset();
    const again = await replay(coding, { windows: [WINDOW], prices });
    const [figures, same] = [first.presets[0], again.presets[0]];
    for (const name of ['passes', 'facts', 'factsWhere', 'factsByRecall', 'userMessages', 'summaryCalls'] as const)
      expect(same?.[name], name).toEqual(figures?.[name]);
    // Ids stand in a request and are new ones, so their digits weigh differently.
    expect(Math.abs((same?.tokensSent ?? 0) / (figures?.tokensSent ?? 0) - 1)).toBeLessThan(0.002);
  });
});

test('a seed asks for the same facts each time, and another one for others', async () => {
  const loaded = await loadSessions(coding);
  const asked = (seed: number) =>
    loaded.sessions.flatMap((session) =>
      sampleFacts(poolFacts(session, seed), () => true, 100).map(({ text }) => text),
    );
  expect(asked(1)).toEqual(asked(1));
  expect(asked(2)).toHaveLength(asked(1).length);
  expect(asked(2)).not.toEqual(asked(1));
  loaded.close();
});

test('digits in an id say no number', () => {
  const isSaid = (text: string) => saysFact(searchedText(text, true), { kind: 'number', text: '7976' });
  expect(isSaid('read_file a.txt: 400 characters (01a20100-b17a-7976-a866-dfbb98d8ee7b)')).toBe(false);
  expect(isSaid('a.txt has (7976) lines')).toBe(true);
});

test('emptied summaries say less, and without recall nothing comes back', async () => {
  const { presets } = await everyPreset();
  const [figures] = presets;
  expect(figures?.withoutSummaries.factsInView).toBeLessThan(figures?.factsInView ?? 0);
  expect(figures?.factsByRecall).toBeGreaterThan((figures?.facts ?? 0) / 3);
  expect(figures?.withoutRecall).toEqual({ factsInView: figures?.factsInView, factsByRecall: 0 });
});

test('a pass that lasts for a turn counts no more in the next one: the view is whole again', async () => {
  const step = (index: number): unknown[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `c${index}`, type: 'function', function: { name: 'read_file', arguments: '{"path":"a.md"}' } },
      ],
    },
    {
      role: 'tool',
      tool_call_id: `c${index}`,
      content: `Reference REF_${index}_7781. ${'A line of the letter. '.repeat(300)}`,
    },
  ];
  const file = await writeSession(directory, 'turns.jsonl', [
    { role: 'user', content: 'Read the letters.' },
    ...Array.from({ length: 9 }, (_, index) => step(index)).flat(),
    { role: 'assistant', content: 'All are read.' },
    { role: 'user', content: 'Now the next ones.' },
    { role: 'assistant', content: 'Ready.' },
    { role: 'user', content: 'Thanks.' },
    { role: 'assistant', content: 'You are welcome.' },
  ]);
  const lasting = { ...preset('wolffish'), name: 'lasting', lasts: 'conversation' as const };
  const { replays, presets } = await replay(file, { windows: [WINDOW], policies: [preset('wolffish'), lasting] });
  for (const figures of presets) expect(figures.facts, figures.name).toBeGreaterThan(0);
  const [ofTurn, ofConversation] = replays.map(({ passes, steps }) => ({
    before: passes.map(({ step: at }) => at),
    newest: steps.at(-1)?.view.total ?? 0,
  }));
  // The first call of each later turn finds all letters again and shortens them once more.
  expect(ofTurn?.before).toEqual([...(ofConversation?.before ?? []), 10, 11]);
});

test('a window that holds the session costs no pass, and all but the new part of each request is cached', async () => {
  const { presets, replays } = await replay(coding, { windows: [1_000_000] });
  expect(presets[0]).toMatchObject({ passes: 0, summaryCalls: 0, facts: 0 });
  const steps = replays[0]?.steps ?? [];
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1]?.view.total ?? 0;
    // Each piece is rounded up by itself.
    if (before >= 1_024) expect(Math.abs(step.cached - before)).toBeLessThan(index + 10);
  }
});

test('costs follow the prices asked for: the cache makes them smaller', async () => {
  const { presets, pricedAs } = await everyPreset();
  const [figures] = presets;
  expect(pricedAs).toEqual([prices]);
  const output = figures?.summaryOutputTokens ?? 0;
  expect(figures?.costWithoutCache).toBeGreaterThan(((figures?.tokensSent ?? 0) * 2 + output * 10) / 1_000_000);
  expect(figures?.cost).toBeLessThan(figures?.costWithoutCache ?? 0);
});

test('a request that nothing can make fit is counted and not sent', async () => {
  const giant = 'The whole ledger, line by line: '.repeat(20_000);
  const file = await writeSession(directory, 'giant.jsonl', [
    { role: 'system', content: giant },
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hello.' },
  ]);
  const { presets } = await replay(file);
  expect(presets[0]).toMatchObject({ calls: 0, exhausted: 1, overflows: 1, tokensSent: 0 });
});

describe('facts that are asked for', () => {
  const first = { role: 'user', content: 'Read all of the letters and tell what they say.' };
  const letters = (from: number, count: number): unknown[] =>
    Array.from({ length: count }, (_, index) => from + index).flatMap((number) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `c${number}`, type: 'function', function: { name: 'read_file', arguments: `{"path":"${number}"}` } },
        ],
      },
      {
        role: 'tool',
        tool_call_id: `c${number}`,
        content: `Reference REF_${number}_7781. ${'A line of the letter. '.repeat(300)}`,
      },
    ]);
  const last = { role: 'assistant', content: 'All are read.' };
  const asked = async (name: string, messages: readonly unknown[]) => {
    const file = await writeSession(directory, 'asked.jsonl', messages);
    const { replays } = await replay(file, { windows: [WINDOW], policies: [preset(name)], facts: 100_000 });
    return { passes: replays[0]?.passes ?? [], survival: replays[0]?.survival };
  };

  test('are those that stood in the log at the pass: what comes later changes nothing of it', async () => {
    const whole = await asked('default', [first, ...letters(10, 15), last]);
    const step = whole.passes[0]?.step ?? 0;
    const cut = await asked('default', [first, ...letters(10, step), last]);
    expect(cut.passes[0]).toMatchObject({ step, factsInView: whole.passes[0]?.factsInView });
    expect(whole.passes[0]?.facts).toBe(cut.passes[0]?.facts);
    expect(cut.passes[0]?.facts).toBe(cut.survival?.facts);
    expect(whole.passes[0]?.facts).toBeGreaterThan(0);
    expect(whole.passes[0]?.facts).toBeLessThan(whole.survival?.facts ?? 0);
  });

  test('at the end of a turn are those of that turn and before, where a pass lasts for a turn', async () => {
    const turn = [first, ...letters(10, 9), last];
    const alone = await asked('wolffish', turn);
    const next = {
      role: 'user',
      content: 'Add NEXT_LETTER_1 and NEXT_LETTER_2 to letters/next.md, at most 4471 lines.',
    };
    const followed = await asked('wolffish', [...turn, next]);
    expect(alone.survival?.facts).toBeGreaterThan(0);
    expect(followed.survival?.facts).toBe(alone.survival?.facts);
  });

  test('of the first message are in view where it stays word for word', async () => {
    const named = { role: 'user', content: 'Read all of the letters. FIRST_KEY_ONE and FIRST_KEY_TWO are 4471 pages.' };
    const plain = { role: 'user', content: 'Read all of the letters. First key one and first key two are some pages.' };
    const [withFacts, without] = [
      await asked('cowork', [named, ...letters(10, 11), last]),
      await asked('cowork', [plain, ...letters(10, 11), last]),
    ];
    expect(withFacts.passes.length).toBeGreaterThan(0);
    expect(without.passes.length).toBe(withFacts.passes.length);
    expect((withFacts.survival?.facts ?? 0) - (without.survival?.facts ?? 0)).toBe(3);
    expect((withFacts.survival?.inView ?? 0) - (without.survival?.inView ?? 0)).toBe(3);
  });
});

test('an overflow from which a forced pass recovers counts, and the refused request is the fullest', async () => {
  const policy = { ...preset('default'), name: 'hopeful', window: WINDOW * 1.5 };
  const { presets, replays } = await replay(coding, { windows: [WINDOW], policies: [policy] });
  const [figures] = presets;
  const steps = replays[0]?.steps ?? [];
  const recovered = steps.filter((step) => step.refused !== null && step.view.total <= WINDOW);
  expect(recovered.length).toBeGreaterThan(0);
  expect(replays[0]?.passes.filter(({ reason }) => reason === 'overflow').length).toBeGreaterThanOrEqual(
    recovered.length,
  );
  expect(figures?.overflows).toBe(steps.filter(({ refused }) => refused !== null).length);
  const refused = Math.max(...steps.map((step) => step.refused ?? 0));
  expect(refused).toBeGreaterThan(WINDOW);
  expect(figures?.maxFill).toBeCloseTo(refused / WINDOW, 10);
});

test('numbers that a worker would refuse are named, not run', async () => {
  const policy = { ...preset('default'), name: 'greedy', outputReserve: { tokens: 64_000, exact: true } };
  const { presets, refused } = await replay(coding, { policies: [policy] });
  expect(presets).toEqual([]);
  expect(refused).toMatchObject([{ name: 'greedy', window: 32_000, problem: expect.stringContaining('64000') }]);
});

test('a system message that is recorded again counts once, and a changed one from then on', async () => {
  const event = (type: string, content: string, more = {}) => ({
    type,
    timestamp: '2026-03-01T10:00:00Z',
    data: { content, ...more },
  });
  const prompt = (words: number) => event('system.message', 'be careful '.repeat(words), { role: 'system' });
  const step = (answer: string) => [event('user.message', 'Go on.'), event('assistant.message', answer)];
  const fixedOf = async (events: readonly unknown[]) => {
    const file = await writeSession(directory, 'prompts.jsonl', events);
    const { replays } = await replay(file);
    return replays[0]?.steps.map(({ view }) => view.fixed) ?? [];
  };
  const [once = 0] = await fixedOf([prompt(4_000), ...step('one')]);
  const [less = 0] = await fixedOf([prompt(100), ...step('one')]);
  expect(once).toBeGreaterThan(less + 4_000);
  const recorded = [
    prompt(4_000),
    ...step('one'),
    prompt(4_000),
    ...step('two'),
    prompt(100),
    prompt(100),
    ...step('three'),
  ];
  expect(await fixedOf(recorded)).toEqual([once, once, less]);
});

test('an image takes its part of the window', async () => {
  const { replays } = await replay(fixture('claude-code.jsonl'));
  const entries = replays[0]?.session.entries ?? [];
  expect(entries.map((entry) => entry.measurements.images)).toEqual([0, 0, 0, 1, 0, 0]);
});
