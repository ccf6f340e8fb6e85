import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateTokens, NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { planCompaction } from '../../src/context/plan/plan-compaction.ts';
import type { CompactionPlan, ModelLimits } from '../../src/context/plan/plan.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { PI_POLICY } from '../../src/context/policy/presets/pi.ts';
import { readsPreviousSummary, summaryRequestLimit, summaryView } from '../../src/context/summary/summary-request.ts';
import { AGENT, Conversation, prose } from './builders.ts';
import { measuredFromText } from './view-checks.ts';

const CAPPED = { ...DEFAULT_POLICY, reduce: [] };
/** Results are read whole, so that there is much to read. */
const NO_REDUCERS = {
  ...CAPPED,
  summary: { ...CAPPED.summary, transcript: { ...CAPPED.summary.transcript, toolResult: null } },
};
const LARGE: ModelLimits = { window: 200_000, maximumOutput: 16_000 };

function planFor(conversation: Conversation, summarizer: ModelLimits = LARGE): CompactionPlan {
  const result = planCompaction({ ...conversation.planInput(), summarizer });
  if (result.kind !== 'planned') throw new Error(`nothing was planned: ${result.kind}`);
  return result.plan;
}

/** Two turns, the second one open, so that a cut splits it. */
function twoTurns(policy = NO_REDUCERS): Conversation {
  const conversation = new Conversation({ policy });
  conversation.log.user('First task.');
  for (let step = 0; step < 6; step += 1) conversation.log.step([prose(8_000, step)]);
  conversation.log.answer('First task done.');
  conversation.log.user('Second task.');
  for (let step = 0; step < 8; step += 1) conversation.log.step([prose(8_000, step)]);
  return conversation;
}

describe('parts of a summary', () => {
  test('one call reads everything when it fits into one request', () => {
    const plan = planFor(twoTurns());
    expect(plan.parts).toHaveLength(1);
    expect(plan.parts[0]).toMatchObject({ number: 1, wave: 1, kind: 'history', fromSequence: 1 });
  });

  test('a result that the transcript shows shortened counts no more than what is read of it', () => {
    const conversation = new Conversation({ policy: CAPPED, limits: { window: 32_000, maximumOutput: 8_000 } });
    conversation.log.user('Read the log.');
    conversation.log.step([prose(200_000, 1)]);
    for (let step = 0; step < 9; step += 1) conversation.log.step([prose(8_000, step)]);
    const { parts } = planFor(conversation, { window: 32_000, maximumOutput: 8_000 });
    expect(parts).toHaveLength(1);
    expect(parts[0]?.inputTokens).toBeLessThan(20_000);
  });

  test('encoded data in a result that the transcript shows shortened does not count for its prose', () => {
    const planned = (data: string): number => {
      const conversation = new Conversation({ policy: CAPPED, limits: LARGE });
      conversation.log.user('Read the pages.');
      for (let step = 0; step < 90; step += 1) conversation.log.step([prose(12_000, step) + data]);
      return planFor(conversation).parts.reduce((sum, part) => sum + part.inputTokens, 0);
    };
    const encoded =
      ' ' +
      Buffer.from(prose(60_000, 1))
        .toString('base64')
        .replaceAll(/[aeiou]/g, '7');
    expect(planned(encoded)).toBeGreaterThan(planned('') * 0.7);
  });

  test('P15 history and the beginning of a split turn run in parallel where the policy keeps them apart', () => {
    const { turnPrefix } = PI_POLICY.summary;
    const policy = { ...NO_REDUCERS, summary: { ...NO_REDUCERS.summary, turnPrefix } };
    const { parts } = planFor(twoTurns(policy));
    expect(parts.map(({ kind, wave }) => ({ kind, wave }))).toEqual([
      { kind: 'history', wave: 1 },
      { kind: 'turn_prefix', wave: 1 },
    ]);
    expect(parts[1]?.fromSequence).toBe((parts[0]?.toSequence ?? 0) + 1);
  });

  test('R8 after a try that failed no request is as large as one that may have been refused', () => {
    const summarizer = { window: 24_000, maximumOutput: 4_000 };
    const input = { ...twoTurns().planInput(), summarizer };
    const [full, shorter] = (['summary', 'shorter_summary'] as const).map((form) => {
      const result = planCompaction({ ...input, form });
      return result.kind === 'planned' ? result.plan.parts : [];
    });
    const half = summaryRequestLimit(summarizer, 0) / 2;
    expect(Math.max(...(full ?? []).map(({ inputTokens }) => inputTokens))).toBeGreaterThan(half);
    expect(shorter?.length).toBeGreaterThan(full?.length ?? Infinity);
    for (const { inputTokens } of shorter ?? []) expect(inputTokens).toBeLessThanOrEqual(half);
  });

  test('W24 R9 a summarizer with a small window gets parts that run in parallel, and one that merges', () => {
    const { parts } = planFor(twoTurns(), { window: 16_000, maximumOutput: 4_000 });
    const reading = parts.slice(0, -1);
    expect(reading.length).toBeGreaterThan(2);
    expect(new Set(reading.map((part) => part.wave))).toEqual(new Set([1]));
    expect(parts.at(-1)).toMatchObject({ kind: 'merge', wave: 2 });
    expect(parts.map((part) => part.number)).toEqual(parts.map((_, index) => index + 1));
  });

  test('D5 exactly the last part reads the previous summary', () => {
    for (const summarizer of [LARGE, { window: 16_000, maximumOutput: 4_000 }]) {
      const { parts } = planFor(twoTurns(), summarizer);
      expect(parts.filter((part) => readsPreviousSummary(parts, part))).toEqual(parts.slice(-1));
    }
  });

  test('R8 no request is larger than the summarizer accepts, whatever the conversation and the window', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 12, maxLength: 30 });
    const windows = fc.integer({ min: 8_000, max: 64_000 });
    fc.assert(
      fc.property(sizes, windows, fc.boolean(), (drawn, window, hasSummary) => {
        const conversation = new Conversation({ policy: NO_REDUCERS });
        conversation.log.user('Go.');
        for (const [seed, size] of drawn.entries()) conversation.log.step([prose(size, seed)]);
        const previousSummary = hasSummary ? prose(12_000, 99) : null;
        const summarizer = { window, maximumOutput: 4_000 };
        const result = planCompaction({ ...conversation.planInput(), summarizer });
        if (result.kind !== 'planned') return;
        const { parts } = result.plan;
        for (const part of parts) {
          const { view } = summaryView({
            policy: NO_REDUCERS,
            parts,
            part,
            entries: conversation.log.entries.filter(
              ({ sequence }) => sequence >= (part.fromSequence ?? Infinity) && sequence <= (part.toSequence ?? 0),
            ),
            previousSummary,
            partTexts: parts.slice(0, -1).map(({ maximumOutput }) => prose(maximumOutput * 4)),
            focus: null,
            agent: AGENT,
            turnIsOpen: true,
            summarizer,
            calibration: NO_CALIBRATION,
          });
          const tokens = estimateTokens(measuredFromText(view), NO_CALIBRATION);
          expect(tokens).toBeLessThanOrEqual(summaryRequestLimit(summarizer, part.maximumOutput) * 1.05);
          expect(tokens + part.maximumOutput).toBeLessThan(window);
          expect(part.inputTokens).toBeLessThanOrEqual(summaryRequestLimit(summarizer, part.maximumOutput));
        }
      }),
      { numRuns: 12 },
    );
  });

  test('a part sees each call together with its results', () => {
    const conversation = twoTurns();
    const { parts } = planFor(conversation, { window: 16_000, maximumOutput: 4_000 });
    for (const part of parts.filter(({ kind }) => kind !== 'merge')) {
      const first = conversation.log.entries.find(({ sequence }) => sequence === part.fromSequence);
      expect(first?.kind).not.toBe('tool_result');
    }
  });

  test("R9 an entry larger than the summarizer's window is read in pieces that leave nothing out", () => {
    const conversation = new Conversation({ policy: NO_REDUCERS, limits: { window: 200_000, maximumOutput: 8_000 } });
    const line = (number: number): string =>
      `[item ${number}] ${number % 3 === 0 ? 'aGVsbG8gd29ybGQ9Pz8x'.repeat(40) : prose(900, number)}`;
    conversation.log.user('Read the register.');
    conversation.log.step([Array.from({ length: 600 }, (_, number) => line(number)).join('\n')]);
    for (let step = 0; step < 14; step += 1) conversation.log.step([prose(8_000, step)]);
    const summarizer = { window: 32_000, maximumOutput: 4_000 };
    const result = planCompaction({ ...conversation.planInput('manual'), summarizer });
    const parts = result.kind === 'planned' ? result.plan.parts : [];
    expect(parts.filter((part) => part.piece !== undefined).length).toBeGreaterThan(4);
    const requests = parts
      .filter((part) => part.kind !== 'merge')
      .map((part) => {
        const entries = conversation.log.entries.filter(
          ({ sequence }) => sequence >= (part.fromSequence ?? Infinity) && sequence <= (part.toSequence ?? 0),
        );
        const { view } = summaryView({
          policy: NO_REDUCERS,
          parts,
          part,
          entries,
          previousSummary: null,
          partTexts: [],
          focus: null,
          agent: AGENT,
          turnIsOpen: true,
          summarizer,
          calibration: NO_CALIBRATION,
        });
        const tokens = estimateTokens(measuredFromText(view), NO_CALIBRATION);
        expect(tokens).toBeLessThanOrEqual(summaryRequestLimit(summarizer, part.maximumOutput) * 1.05);
        return JSON.stringify(view);
      })
      .join('');
    expect(requests).not.toContain('characters left out');
    for (let number = 0; number < 600; number += 1) expect(requests).toContain(`[item ${number}]`);
  });

  test('the number of parts is bounded, because their ids cross Temporal', () => {
    const conversation = new Conversation({
      policy: NO_REDUCERS,
      limits: { window: 1_000_000, maximumOutput: 32_000 },
    });
    conversation.log.user('Go.');
    for (let step = 0; step < 300; step += 1) conversation.log.step([prose(16_000, step)]);
    const { parts, form } = planFor(conversation, { window: 8_000, maximumOutput: 2_000 });
    expect(parts.length).toBeLessThanOrEqual(64);
    // R9: rather the program reads everything than a model a part of it.
    expect(form).toBe('extractive_summary');
  });
});
