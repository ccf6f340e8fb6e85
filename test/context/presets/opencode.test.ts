import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, test } from 'vitest';
import { budgetFor } from '../../../src/context/policy/budget.ts';
import { textOf } from '../../../src/context/log/content.ts';
import { NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import type { CompactionPlan } from '../../../src/context/plan/plan.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import { OPENCODE_POLICY } from '../../../src/context/policy/presets/opencode.ts';
import { summaryView } from '../../../src/context/summary/summary-request.ts';
import { AnthropicCollector } from '../../../src/models/protocols/anthropic/answer.ts';
import { AGENT, image, prose, text, viewText } from '../builders.ts';
import type { Conversation } from '../builders.ts';
import { counted, LARGE, large, planAt } from './counted.ts';

const tokens = (count: number, seed = 1): string => prose(count * 4, seed);

/** Turns with one step each, whose result has `size` tokens. */
function turns(count: number, size: number, tool = 'read_file'): Conversation {
  const conversation = large(OPENCODE_POLICY);
  for (let turn = 1; turn <= count; turn += 1) {
    conversation.log.user(`request ${turn}`);
    conversation.log.step([tokens(size, turn)], { tool });
    conversation.log.answer(`answer ${turn}`);
  }
  return conversation;
}

describe('trigger', () => {
  test('O3 a window of 0 is unlimited: nothing is compacted by itself', () => {
    const conversation = large({ ...OPENCODE_POLICY, window: 0 });
    conversation.log.user('Go.');
    expect(counted(conversation, { input: 10_000_000, output: 0, since: 9 }).isDue).toBe(false);
  });

  test('O4 the reserve is the model’s maximum output, 32,000 at most, and 32,000 when it is unknown', () => {
    const reserve = (maximumOutput: number): number =>
      budgetFor(OPENCODE_POLICY, { window: 200_000, maximumOutput }).outputReserve;
    expect(reserve(8_000)).toBe(8_000);
    expect(reserve(64_000)).toBe(32_000);
    expect(reserve(0)).toBe(32_000);
  });

  test('O4 a model’s own limit on its input wins', () => {
    const limits = { window: 200_000, maximumInput: 190_000, maximumOutput: 64_000 };
    expect(budgetFor(OPENCODE_POLICY, limits).inputBudget).toBe(190_000);
  });

  test('O5 the total is input, cached input and output of the step, and over the usable window a pass is due', () => {
    const conversation = turns(1, 100);
    const since = conversation.log.entries.length;
    const report = (input: number, output: number) => counted(conversation, { input, output, since });
    expect(report(160_000, 8_000)).toMatchObject({ tokens: 168_000, isDue: false });
    expect(report(160_000, 8_001).isDue).toBe(true);
    // What the provider read from its cache is part of the input, here as Anthropic reports it: apart.
    const events: RawMessageStreamEvent[] = JSON.parse(
      `[{"type":"message_start","message":{"usage":{"input_tokens":20000,"cache_read_input_tokens":140000,"output_tokens":1}}},
        {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":8001}}]`,
    );
    const collector = new AnthropicCollector({ provider: 'anthropic', declaredName: (name) => name });
    for (const event of events) collector.take(event);
    const usage = collector.finish().usage;
    expect(report(usage?.input ?? 0, usage?.output ?? 0)).toMatchObject({ tokens: 168_001, isDue: true });
  });

  test('O5 O27 only real usage counts: not what came after it, and nothing before the first report', () => {
    const conversation = turns(4, 20_000);
    expect(counted(conversation, { input: 1_000, output: 10, since: 1 }).tokens).toBe(1_010);
    expect(counted(conversation)).toMatchObject({ tokens: null, isDue: false });
  });

  test('O6 compaction is on, and switched off by a setting', () => {
    expect(OPENCODE_POLICY.enabled).toBe(true);
    const off = large({ ...OPENCODE_POLICY, enabled: false });
    off.log.user('Go.');
    expect(counted(off, { input: 500_000, output: 0, since: 9 }).isDue).toBe(false);
    const full = large({ ...OPENCODE_POLICY, enabled: false });
    for (let turn = 1; turn <= 4; turn += 1) {
      full.log.user(`request ${turn}`);
      full.log.answer(tokens(40_000, turn));
    }
    expect(planCompaction(full.planInput('overflow')).kind).toBe('exhausted');
  });
});

describe('pivot', () => {
  const full = (): Conversation => turns(4, 40_000);

  test('O7 O15 the cut is a marker after everything, and the summary stands for all before it', () => {
    const conversation = full();
    const plan = planAt(conversation);
    const newest = conversation.log.entries.length;
    expect(plan).toMatchObject({ opensWithMarker: true, keptFromMarker: true, coveredThroughSequence: newest });
    expect(plan.firstKeptSequence).toBe(newest + 1);
    expect(plan.parts.at(0)).toMatchObject({ fromSequence: 1, toSequence: newest });
  });

  test('O14 later views begin at the newest marker with a finished summary', () => {
    const conversation = full();
    pivot(conversation, planAt(conversation), 'WHAT WE DID');
    conversation.log.user('Next request.');
    const shown = viewText(conversation.view());
    expect(shown).toContain('WHAT WE DID');
    expect(shown).toContain('Next request.');
    expect(shown).not.toContain('request 3');
  });

  test('O14 a marker whose summary failed changes nothing, and the next form takes it over', () => {
    const conversation = full();
    const before = conversation.view();
    const marker = conversation.log.add({ kind: 'compaction', content: [] });
    expect(conversation.view()).toEqual(before);
    expect(planAt(conversation, { form: 'extractive_summary' }).firstKeptSequence).toBe(marker.sequence);
  });

  test('O25 O12 the marker renders as the question, and the summary as the answer to it', () => {
    const conversation = full();
    pivot(conversation, planAt(conversation), 'WHAT WE DID');
    const [question, answer] = conversation.view().messages;
    expect(question).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'What did we do so far?' }] });
    expect(answer).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'WHAT WE DID' }] });
  });

  test('O13 after an automatic pass a message asks to go on; after a manual one, and once the turn is over, none does', () => {
    const conversation = full();
    expect(planAt(conversation).continuation).toBe(true);
    expect(planAt(conversation, { reason: 'overflow' }).continuation).toBe(true);
    expect(planAt(conversation, { reason: 'manual' }).continuation).toBe(false);
    expect(planAt(conversation, { turnIsOver: true }).continuation).toBe(false);
    pivot(conversation, planAt(conversation), 'WHAT WE DID');
    expect(textOf(conversation.log.entries.at(-1)?.content ?? [])).toMatch(/^Continue if you have next steps/);
  });

  test('O28 the newest request of the user is repeated after the summary while its turn runs', () => {
    const conversation = full();
    const plan = planAt(conversation, { reason: 'overflow' });
    const last = conversation.log.entries.findLast((entry) => entry.kind === 'user');
    expect(plan.keptSequences).toEqual([last?.sequence]);
    expect(planAt(conversation, { turnIsOver: true }).keptSequences).toEqual([]);
  });

  test('O28 its media are placeholders then', () => {
    const conversation = full();
    conversation.log.user([...text('Look at this.'), image()]);
    conversation.log.answer('I look.');
    const plan = planAt(conversation, { reason: 'overflow' });
    pivot(conversation, plan, 'WHAT WE DID');
    const shown = viewText(conversation.view());
    expect(shown).toContain('Look at this.');
    expect(shown).toContain('800 × 600 pixels');
    expect(shown).not.toContain('AAAA');
  });

  test('O7 a message that nobody has answered stays as it is', () => {
    const conversation = full();
    const message = conversation.log.user('A new request.');
    const plan = planAt(conversation);
    expect(plan).toMatchObject({ opensWithMarker: true, keptFromMarker: false, firstKeptSequence: message.sequence });
  });
});

/** Puts a pivot in force as the store does: the marker first, then the summary and the continuation. */
function pivot(conversation: Conversation, plan: CompactionPlan, summary: string): void {
  conversation.commit(plan, summary);
}

describe('summary', () => {
  const request = (change: Partial<Parameters<typeof summaryView>[0]> = {}) => {
    const conversation = turns(2, 10_000);
    const { parts } = planAt(turns(4, 40_000));
    const [part] = parts;
    if (part === undefined) throw new Error('no part');
    const { view, promptVersion } = summaryView({
      policy: OPENCODE_POLICY,
      parts,
      part,
      entries: conversation.log.entries,
      previousSummary: null,
      partTexts: [],
      focus: null,
      agent: AGENT,
      turnIsOpen: true,
      summarizer: LARGE,
      calibration: NO_CALIBRATION,
      ...change,
    });
    const [message] = view.messages;
    const asked = message !== undefined && 'content' in message ? textOf(message.content) : '';
    return { view, asked, promptVersion };
  };

  test('O9 the summarizing agent has no tools', () => {
    expect(request().view.tools).toEqual([]);
    expect(request().view.system).toContain('You have no tools');
  });

  test('O11 it reads the history since the pivot, then the question, then the instruction', () => {
    const { asked } = request();
    const history = asked.indexOf('request 2');
    const question = asked.indexOf('What did we do so far?');
    const instruction = asked.indexOf('Provide a detailed prompt for continuing our conversation above');
    expect(history).toBeGreaterThan(0);
    expect(question).toBeGreaterThan(history);
    expect(instruction).toBeGreaterThan(question);
  });

  test('O11 what the pivot stands for is not read again', () => {
    const conversation = turns(4, 40_000);
    conversation.commit(planAt(conversation), 'THE PIVOT');
    const before = conversation.log.entries.length;
    for (let turn = 5; turn <= 9; turn += 1) {
      conversation.log.user(`request ${turn}`);
      conversation.log.step([tokens(40_000, turn)], { tool: 'read_file' });
      conversation.log.answer(`answer ${turn}`);
    }
    const begins = planAt(conversation).parts.flatMap(({ fromSequence }) => fromSequence ?? []);
    expect(Math.min(...begins)).toBe(before + 1);
  });

  test.each([
    'What was done',
    'What is currently being worked on',
    'Which files are being modified',
    'What needs to be done next',
    'Key user requests, constraints, or preferences that should persist',
    'Important technical decisions and why they were made',
    'comprehensive enough to provide context but concise enough',
  ])('O22 the system prompt asks for: %s', (wanted) => {
    expect(request().view.system).toContain(wanted);
  });

  test.each([
    'what we did',
    "what we're doing",
    "which files we're working on",
    "what we're going to do next",
    'will not have access to our conversation',
  ])('O23 the instruction asks for: %s', (wanted) => {
    expect(request().asked).toContain(wanted);
  });

  test('O23b both layers have a version, and the one that was used is stored', () => {
    const { system, history, update } = OPENCODE_POLICY.summary.prompts;
    expect([system.version, history.version, update?.version]).toEqual([1, 1, 1]);
    expect(request().promptVersion).toBe(`${history.name}@${history.version}`);
    expect(request({ previousSummary: 'X' }).promptVersion).toBe('continuation-prompt.update@1');
  });

  test('O24 lines of hooks stand before and after the instruction', () => {
    const { asked } = request({ contextLines: { prepend: ['BRANCH main'], append: ['GOAL ship'] } });
    const instruction = asked.indexOf('Provide a detailed prompt');
    expect(asked.indexOf('BRANCH main')).toBeGreaterThan(-1);
    expect(asked.indexOf('BRANCH main')).toBeLessThan(instruction);
    expect(asked.indexOf('GOAL ship')).toBeGreaterThan(instruction);
  });

  test('O28 tool outputs are cut to 2,000 characters in its input', () => {
    const results = [...request().asked.matchAll(/<tool_result[^>]*>\n([\s\S]*?)\n<\/tool_result>/g)];
    expect(results).toHaveLength(2);
    for (const [, result = ''] of results) expect(result.length).toBeLessThanOrEqual(2_000);
  });
});
