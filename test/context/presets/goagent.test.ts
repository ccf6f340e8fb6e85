import { describe, expect, test } from 'vitest';
import { budgetFor } from '../../../src/context/policy/budget.ts';
import { textOf } from '../../../src/context/log/content.ts';
import { NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import { GOAGENT_POLICY } from '../../../src/context/policy/presets/goagent.ts';
import { summaryView } from '../../../src/context/summary/summary-request.ts';
import { AGENT, prose, viewText } from '../builders.ts';
import { counted, LARGE, large, planAt } from './counted.ts';

const tokens = (count: number, seed = 1): string => prose(count * 4, seed);

/** Finished turns of 6,000 tokens each: a question, a step, an answer. */
function turns(count = 30) {
  const conversation = large(GOAGENT_POLICY);
  for (let turn = 1; turn <= count; turn += 1) {
    conversation.log.user(`request ${turn}`);
    conversation.log.step([tokens(3_000, turn)]);
    conversation.log.answer(tokens(3_000, turn));
  }
  return conversation;
}

/** The prompt that a first summary, or an update, is asked with. */
function promptText(previousSummary: string | null): string {
  const { parts } = planAt(turns());
  const [part] = parts;
  if (part === undefined) throw new Error('no part');
  const { view } = summaryView({
    policy: GOAGENT_POLICY,
    parts,
    part,
    entries: turns(1).log.entries,
    previousSummary,
    partTexts: [],
    focus: null,
    agent: AGENT,
    turnIsOpen: true,
    summarizer: LARGE,
    calibration: NO_CALIBRATION,
  });
  const [message] = view.messages;
  return message !== undefined && 'content' in message ? textOf(message.content) : '';
}

describe('trigger', () => {
  test('G1 a pass is due over 183,616 tokens at a window of 200,000', () => {
    expect(budgetFor(GOAGENT_POLICY, LARGE).trigger).toBe(183_616);
    const report = (input: number) => counted(turns(1), { input, output: 0, since: 99 });
    expect(report(183_616).isDue).toBe(false);
    expect(report(183_617).isDue).toBe(true);
  });

  test('G6 the defaults are enabled, 16,384 reserved and 20,000 kept; a window of the user counts', () => {
    const { outputReserve, tail } = budgetFor(GOAGENT_POLICY, LARGE);
    expect({ enabled: GOAGENT_POLICY.enabled, outputReserve, tail }).toEqual({
      enabled: true,
      outputReserve: 16_384,
      tail: 20_000,
    });
    expect(budgetFor({ ...GOAGENT_POLICY, window: 150_000 }, LARGE).trigger).toBe(150_000 - 16_384);
  });

  test('G8 the window of the policy comes before the one of the model, and 0 switches off', () => {
    expect(budgetFor(GOAGENT_POLICY, LARGE).window).toBe(200_000);
    expect(budgetFor({ ...GOAGENT_POLICY, window: 300_000 }, LARGE).window).toBe(300_000);
    const off = large({ ...GOAGENT_POLICY, window: 0 });
    off.log.user(tokens(90_000));
    expect(counted(off, { input: 900_000, output: 0, since: 99 }).isDue).toBe(false);
  });

  test('G15 switched off it runs on until the provider reports an overflow, which ends the turn', () => {
    const off = large({ ...GOAGENT_POLICY, enabled: false });
    off.log.entries.push(...turns().log.entries);
    expect(counted(off, { input: 500_000, output: 0, since: 999 }).isDue).toBe(false);
    expect(planCompaction(off.planInput('overflow')).kind).toBe('exhausted');
  });

  test('G16 a token is four characters until the provider counts', () => {
    const conversation = large(GOAGENT_POLICY);
    const before = counted(conversation).tokens ?? 0;
    conversation.log.user('x'.repeat(8_000));
    expect((counted(conversation).tokens ?? 0) - before).toBe(2_000);
  });

  test('G16 the count of the provider replaces the estimate, and what follows is estimated again', () => {
    const conversation = large(GOAGENT_POLICY);
    conversation.log.user(tokens(10_000));
    const answer = conversation.log.answer('ok');
    conversation.log.user('x'.repeat(4_000));
    const { tokens: count } = counted(conversation, { input: 14_000, output: 50, since: answer.sequence + 1 });
    expect(count).toBe(14_050 + 1_000);
  });
});

describe('cut', () => {
  test('G2 the cut is at a user message, with at least 20,000 tokens after it', () => {
    const conversation = turns();
    const plan = planAt(conversation);
    const cut = conversation.log.entries.find((entry) => entry.sequence === plan.firstKeptSequence);
    // Four turns of 6,000 tokens hold the newest 20,000; the walk ends inside the fourth.
    expect(cut?.content).toEqual([{ type: 'text', text: 'request 27' }]);
    expect(plan.parts.map(({ kind }) => kind)).not.toContain('turn_prefix');
  });

  test('G3 G5 the older part becomes one summary as a user message, and the kept messages follow it', () => {
    const conversation = turns();
    const plan = planAt(conversation);
    conversation.commit(plan, '## Goal\nTHE SUMMARY');
    const { system, messages } = conversation.view();
    expect(system).toContain(AGENT.instructions);
    expect(messages[0]).toMatchObject({ role: 'user', origin: 'summary' });
    expect(viewText({ system, tools: [], messages: messages.slice(0, 1) })).toContain('THE SUMMARY');
    expect(messages[1]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'request 27' }] });
    expect(messages.filter((message) => 'origin' in message && message.origin === 'summary')).toHaveLength(1);
    expect(viewText(conversation.view())).not.toContain('request 26');
  });

  test('G7 what is newer than 20,000 tokens is never summarized while no turn is larger than that', () => {
    for (const size of [1_000, 5_000, 9_000, 19_000]) {
      const conversation = large(GOAGENT_POLICY);
      for (let turn = 0; turn * (size + 10) < 185_000; turn += 1) {
        conversation.log.user(`request ${turn}`);
        conversation.log.answer(tokens(size, turn));
      }
      const cut = planAt(conversation).firstKeptSequence ?? 0;
      const kept = conversation.log.entries.filter((entry) => entry.sequence >= cut && entry.kind === 'assistant');
      expect(kept.length * size, String(size)).toBeGreaterThanOrEqual(20_000);
      expect(conversation.log.entries[cut - 1]?.kind).toBe('user');
    }
  });

  test('G13 a turn larger than 20,000 tokens that is not the newest stays whole', () => {
    const conversation = turns(25);
    conversation.log.user('the large request');
    for (let step = 0; step < 4; step += 1) conversation.log.step([tokens(9_000, step)]);
    conversation.log.user('the newest request');
    conversation.log.answer(tokens(2_000));
    const plan = planAt(conversation);
    const cut = conversation.log.entries.find((entry) => entry.sequence === plan.firstKeptSequence);
    expect(cut?.content).toEqual([{ type: 'text', text: 'the large request' }]);
    expect(plan.parts.map(({ kind }) => kind)).not.toContain('turn_prefix');
  });

  test('G12 a tool result is never a cut, wherever the walk ends', () => {
    for (let result = 1_000; result < 24_000; result += 3_000) {
      const conversation = turns(24);
      conversation.log.user('The last request.');
      for (let step = 0; step < 4; step += 1) conversation.log.step([tokens(result, step)]);
      const cut = planAt(conversation).firstKeptSequence ?? 0;
      expect(['user', 'assistant']).toContain(conversation.log.entries[cut - 1]?.kind);
    }
  });

  test('G13 D9 a newest turn over 20,000 tokens is cut inside, and both parts are summarized apart', () => {
    const conversation = turns(5);
    conversation.log.user('The huge request.');
    for (let step = 0; step < 40; step += 1) conversation.log.step([tokens(4_000, step)]);
    const plan = planAt(conversation);
    expect(conversation.log.entries[(plan.firstKeptSequence ?? 0) - 1]?.kind).toBe('assistant');
    expect(plan.parts.map((part) => part.kind)).toEqual(['history', 'turn_prefix']);
  });

  test('G14 the plan knows how many messages leave the view', () => {
    const conversation = turns();
    const plan = planAt(conversation);
    expect(plan.droppedMessages).toBe((plan.firstKeptSequence ?? 0) - 1);
    expect(plan.droppedMessages).toBe(26 * 4);
  });
});

describe('summary', () => {
  test('G9 the sections, with check boxes, bold decisions and numbered steps', () => {
    const text = promptText(null);
    const headings = [...text.matchAll(/^#{2,3} (.+)$/gm)].map((match) => match[1]);
    expect(headings).toEqual([
      'Goal',
      'Constraints & Preferences',
      'Progress',
      'Done',
      'In Progress',
      'Blocked',
      'Key Decisions',
      'Next Steps',
      'Critical Context',
    ]);
    expect(text).toContain('- [x] ');
    expect(text).toContain('- [ ] ');
    expect(text).toContain('- **Decision**: rationale');
    expect(text).toContain('1. What should happen next');
  });

  test('G11 the previous summary stands in the prompt, which merges it with the new messages', () => {
    const text = promptText('## Goal\nWHAT WAS BEFORE');
    expect(text).toContain('WHAT WAS BEFORE');
    expect(text).toMatch(/Update that summary/);
    expect(promptText(null)).not.toMatch(/Update that summary/);
  });

  test('G18 a summary takes 4,096 tokens, and a model of few tokens less', () => {
    expect(planAt(turns()).parts[0]?.maximumOutput).toBe(4_096);
    expect(budgetFor(GOAGENT_POLICY, { window: 200_000, maximumOutput: 1_000 }).summaryOutput).toBe(1_000);
  });

  test('G18 tool results are cut to 2,000 characters in its input', () => {
    const results = [...promptText(null).matchAll(/<tool_result[^>]*>\n([\s\S]*?)\n<\/tool_result>/g)];
    expect(results.length).toBeGreaterThan(0);
    for (const [, result = ''] of results) expect(result.length).toBeLessThanOrEqual(2_000);
  });

  test('G18 fewer than four messages are not summarized', () => {
    const conversation = large(GOAGENT_POLICY);
    conversation.log.user('Begin.');
    conversation.log.answer(tokens(90_000));
    conversation.log.user(tokens(90_000));
    const form = (): string => {
      const result = planCompaction(conversation.planInput('overflow'));
      return result.kind === 'planned' ? result.plan.form : result.kind;
    };
    expect(form()).toBe('clip_only');
    conversation.log.answer(tokens(1_000));
    expect(form()).toBe('summary');
  });
});
