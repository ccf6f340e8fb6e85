import { describe, expect, test } from 'vitest';
import { PRESETS, presetNamed } from '../../src/config/presets.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../src/tools/runtime/names.ts';
import { Conversation, prose, viewText } from './builders.ts';
import { planOf } from './planning.ts';

const OLD = 'The pumps were set to twelve bar.';

/** A turn whose first call is of this tool, with a long result, and whose other calls read files. */
function callingFirst(tool: string, preset: string): Conversation {
  const conversation = new Conversation({ policy: presetNamed(PRESETS, preset) });
  conversation.log.user('go');
  conversation.log.step([`${prose(4_000)}${OLD}${prose(4_000, 2)}`], { tool });
  for (let file = 0; file < 13; file += 1) conversation.log.step([prose(8_000, file + 3)]);
  return conversation;
}

describe.each([RECALL_SEARCH, RECALL_OPEN, 'read_file'])('an old result of %s', (tool) => {
  test.each([
    ['default', { form: 'clip_only' }],
    ['wolffish', {}],
  ] as const)('is clipped or cleared by %s without a summary, and stays one call away', (preset, form) => {
    const conversation = callingFirst(tool, preset);
    const { id } = conversation.log.entries[2] ?? expect.fail('no result');
    expect(viewText(conversation.view())).toContain(OLD);
    const plan = planOf(conversation, form);
    expect(plan.operations.find(({ entryId }) => entryId === id)?.kind).toMatch(/^cl(?:ip|ear)$/u);
    conversation.commit({ ...plan, firstKeptSequence: null, coveredThroughSequence: null }, '');
    const shown = viewText(conversation.view());
    expect(shown).not.toContain(OLD);
    expect(shown).toContain(`recall_open ${id}`);
  });
});
