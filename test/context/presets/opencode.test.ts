import { describe, expect, test } from 'vitest';
import { budgetFor } from '../../../src/context/budget.ts';
import { textOf } from '../../../src/context/content.ts';
import { NO_CALIBRATION } from '../../../src/context/estimate.ts';
import type { CompactionPlan, PlanResult } from '../../../src/context/plan.ts';
import { planCompaction } from '../../../src/context/plan-compaction.ts';
import type { CompactionPolicy, Reducer } from '../../../src/context/policy.ts';
import { OPENCODE_POLICY } from '../../../src/context/presets/opencode.ts';
import { summaryView } from '../../../src/context/summary-request.ts';
import { AGENT, image, prose, text, viewText } from '../builders.ts';
import type { Conversation } from '../builders.ts';
import { counted, LARGE, large, planAt } from './counted.ts';

const tokens = (count: number, seed = 1): string => prose(count * 4, seed);
const MARK = '[Old tool result content cleared]';

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

function maintain(conversation: Conversation, policy: CompactionPolicy = OPENCODE_POLICY): PlanResult {
  return planCompaction({ ...conversation.planInput('maintenance'), policy, turnIsOver: true });
}

function cleared(result: PlanResult): number[] {
  if (result.kind !== 'planned') return [];
  return result.plan.operations.map((operation) => Number(operation.entryId.slice(-12)));
}

/** Changes the one reducer of the preset. */
function withPruning(change: Partial<Extract<Reducer, { kind: 'clear_tool_results' }>>): CompactionPolicy {
  return {
    ...OPENCODE_POLICY,
    reduce: OPENCODE_POLICY.reduce.map((reducer) =>
      reducer.kind === 'clear_tool_results' ? { ...reducer, ...change } : reducer,
    ),
  };
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
    expect(plan.keptUserEntryIds).toEqual([last?.id]);
    expect(planAt(conversation, { turnIsOver: true }).keptUserEntryIds).toEqual([]);
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

describe('pruning', () => {
  test('O1 O16 it runs whatever the window holds, and needs no pass to be due', () => {
    const conversation = turns(9, 10_000);
    expect(counted(conversation).isDue).toBe(false);
    expect(cleared(maintain(conversation)).length).toBeGreaterThan(0);
  });

  test('O16 it deletes nothing: the log keeps the original', () => {
    const conversation = turns(9, 10_000);
    const before = structuredClone(conversation.log.entries);
    const result = maintain(conversation);
    if (result.kind === 'planned') conversation.commit(result.plan, '');
    expect(conversation.log.entries.slice(0, before.length)).toEqual(before);
    expect(viewText(conversation.view()).includes(MARK)).toBe(true);
  });

  test('O16 O27 results of protected tools stay and do not count', () => {
    expect(cleared(maintain(turns(8, 10_000, 'skill')))).toEqual([]);
    expect(OPENCODE_POLICY.reduce[0]).toMatchObject({ protectedTools: ['skill'] });
  });

  test('O16 failed calls stay', () => {
    const conversation = large(OPENCODE_POLICY);
    for (let turn = 1; turn <= 8; turn += 1) {
      conversation.log.user(`request ${turn}`);
      conversation.log.step([tokens(10_000, turn)], { isError: true });
    }
    expect(cleared(maintain(conversation))).toEqual([]);
  });

  test('O17 results of the two newest turns stay, however large', () => {
    const conversation = turns(3, 30_000);
    const last = turns(2, 90_000);
    expect(cleared(maintain(last))).toEqual([]);
    expect(cleared(maintain(conversation, withPruning({ protect: { tokens: 0 } })))).toEqual([3]);
  });

  test('O18 it stops at a result that is cleared already, so a second run finds nothing', () => {
    const conversation = turns(9, 10_000);
    const result = maintain(conversation);
    if (result.kind !== 'planned') throw new Error('nothing was pruned');
    conversation.commit(result.plan, '');
    expect(maintain(conversation, withPruning({ minimum: { tokens: 0 } })).kind).toBe('fits');
  });

  test('O18 it does not look behind the newest summary', () => {
    const conversation = turns(9, 10_000);
    pivot(conversation, planAt(conversation), 'WHAT WE DID');
    expect(cleared(maintain(conversation, withPruning({ protect: { tokens: 0 }, minimum: { tokens: 0 } })))).toEqual(
      [],
    );
  });

  test('O19 the newest 40,000 tokens of output stay, by four characters to a token', () => {
    // Of nine results of 10,000 tokens two are of the newest turns, four are protected, three are old.
    expect(cleared(maintain(turns(9, 10_000)))).toEqual([3, 7, 11]);
    expect(cleared(maintain(turns(9, 10_000), withPruning({ protect: { tokens: 20_000 } })))).toHaveLength(5);
  });

  test('O19 O20 nothing is cleared unless more than 20,000 tokens are won', () => {
    expect(cleared(maintain(turns(8, 10_000)))).toEqual([]);
    expect(cleared(maintain(turns(8, 10_001)))).toHaveLength(3);
  });

  test('O21 a pruned result is one line, and its media are gone', () => {
    const conversation = large(OPENCODE_POLICY);
    for (let turn = 1; turn <= 9; turn += 1) {
      conversation.log.user(`request ${turn}`);
      conversation.log.step([[...text(tokens(10_000, turn)), image()]]);
      conversation.log.answer('ok');
    }
    const result = maintain(conversation);
    if (result.kind !== 'planned') throw new Error('nothing was pruned');
    conversation.commit(result.plan, '');
    const results = conversation
      .view()
      .messages.flatMap((message) => (message.role === 'tool_results' ? message.results : []));
    expect(results.slice(0, 3).map((shown) => shown.content)).toEqual(
      Array.from({ length: 3 }, () => [{ type: 'text', text: MARK }]),
    );
    expect(results.at(-1)?.content).toHaveLength(2);
  });

  test('O26 pruning, its numbers and the estimator are settings of their own', () => {
    expect(cleared(maintain(turns(9, 10_000), { ...OPENCODE_POLICY, reduce: [] }))).toEqual([]);
    expect(cleared(maintain(turns(9, 10_000), withPruning({ minimum: { tokens: 40_000 } })))).toEqual([]);
    const { counting } = OPENCODE_POLICY;
    if (counting === 'calibrated') throw new Error('the preset counts characters');
    const twice = { ...OPENCODE_POLICY, counting: { ...counting, charactersPerToken: 2 } };
    expect(cleared(maintain(turns(9, 10_000), twice)).length).toBeGreaterThan(3);
    expect(cleared(maintain(turns(9, 10_000), { ...OPENCODE_POLICY, enabled: false }))).toHaveLength(3);
  });

  test('O1 passes do not prune: the two layers are apart', () => {
    const plan = planAt(turns(9, 10_000));
    expect(plan.operations).toEqual([]);
    expect(plan.form).toBe('summary');
  });
});
