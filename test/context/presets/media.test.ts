import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../../src/context/log/content.ts';
import { textOf } from '../../../src/context/log/content.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { measureView } from '../../../src/context/view/view-arrangement.ts';
import { fixedMeasurements } from '../../../src/context/view/system-text.ts';
import { BUILT_IN_PRESETS } from '../../../src/context/policy/presets/index.ts';
import { planCompaction } from '../../../src/context/plan/plan-compaction.ts';
import type { CompactionPlan } from '../../../src/context/plan/plan.ts';
import type { CompactionPolicy } from '../../../src/context/policy/policy.ts';
import { summaryView } from '../../../src/context/summary/summary-request.ts';
import { AGENT, Conversation, LIMITS, outline, prose, text, viewText } from '../builders.ts';
import { writtenSummary } from '../chained.ts';
import { countOf } from './support.ts';

/** A picture with data of its own, so that it can be found again. */
function picture(name: string, megabytes = 0): ContentPart {
  const data = `PICTURE${name}${'iVBORw0K'.repeat(megabytes * 125_000)}`;
  return { type: 'image', mediaType: 'image/png', data, width: 1_600, height: 1_200 };
}

/** Steps with screenshots until the preset compacts; the newest picture has been in no request yet. */
function untilPlanned(policy: CompactionPolicy): { conversation: Conversation; plan: CompactionPlan } {
  const conversation = new Conversation({ policy });
  conversation.log.user([...text('Look at all of them.'), picture('-first')]);
  for (let step = 1; step < 60; step += 1) {
    conversation.log.step([[...text(prose(2_000, step)), picture(`-${step}-`)]]);
    const result = planCompaction({ ...conversation.planInput(), counted: countOf(conversation) });
    if (result.kind === 'planned') return { conversation, plan: result.plan };
  }
  throw new Error('nothing was ever planned');
}

describe.each(BUILT_IN_PRESETS.map((policy) => [policy.name, policy] as const))('%s', (_name, policy) => {
  test('R24 a picture of 2.7 MB triggers nothing in a fresh conversation', () => {
    const conversation = new Conversation({ policy });
    conversation.log.user([...text('What is this?'), picture('-large', 2.7)]);
    conversation.log.answer('A heron.');
    conversation.log.user('Say more.');
    const { log } = conversation;
    const size = measureView({
      fixed: fixedMeasurements(AGENT),
      entries: log.entries.map(outline),
      summary: null,
      operations: [],
    });
    expect(size.bytes).toBeGreaterThan(2_000_000);
    expect(estimateTokens(size, NO_CALIBRATION)).toBeLessThan(5_000);
    expect(countOf(conversation).isDue).toBe(false);
    expect(planCompaction({ ...conversation.planInput(), counted: countOf(conversation) }).kind).toBe('fits');
  });

  test('R23 R24 a pass shows the model a fresh picture as it came, and the summary no picture at all', () => {
    const { conversation, plan } = untilPlanned(policy);
    const { log } = conversation;
    const asked = plan.parts.map((part) => {
      const { view } = summaryView({
        policy,
        parts: plan.parts,
        part,
        entries: log.entries.filter(
          ({ sequence }) => (part.fromSequence ?? 0) <= sequence && sequence <= (part.toSequence ?? 0),
        ),
        previousSummary: null,
        partTexts: [],
        focus: null,
        agent: AGENT,
        turnIsOpen: true,
        summarizer: LIMITS,
        calibration: NO_CALIBRATION,
      });
      return view.messages.flatMap((message) => (message.role === 'user' ? message.content : []));
    });
    for (const content of asked) {
      expect(content.map(({ type }) => type)).not.toContain('image');
      expect(textOf(content)).not.toContain('PICTURE');
    }
    const shown = asked.map(textOf).join('');
    if (plan.parts.length > 0) expect(shown).toMatch(/1600 × 1200 pixels, not shown/);
    const newest = log.entries.findLast(({ kind }) => kind === 'tool_result');
    conversation.commit(plan, writtenSummary(plan, 1));
    const sent = viewText(conversation.view());
    expect(newest?.content.some((part) => part.type === 'image' && sent.includes(part.data))).toBe(true);
  });
});
