import { describe, expect, test } from 'vitest';
import {
  changePolicy,
  changeProblems,
  policyChanges,
  type PolicyChanges,
} from '../../src/context/policy/change-policy.ts';
import { compactionPolicy } from '../../src/context/policy/policy.ts';
import { COWORK_POLICY } from '../../src/context/policy/presets/cowork.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';

const optionsOf = (use: string, changes: PolicyChanges): unknown =>
  changePolicy(DEFAULT_POLICY, changes).reduce.find((reducer) => reducer.use === use)?.options;

test('every option of a policy but its name and the reserves by model can be changed', () => {
  const { name: _name, outputReserves: _reserves, reduce: _reduce, ...options } = COWORK_POLICY;
  const changes = policyChanges.parse(options);
  expect({ ...changePolicy(DEFAULT_POLICY, changes), ...exactAmounts(changes) }).toMatchObject(options);
});

/** What differs between the two only in that an amount which was set is exact. */
function exactAmounts({ trigger, target, outputReserve, keep, summary }: PolicyChanges): object {
  return { trigger, target, outputReserve, keep, summary };
}

/** One changed value of each kind; each must show in the policy, at the same path. */
test.each([
  ['a switch', { enabled: false }],
  ['a number', { minimumGain: 0.25 }],
  ['a number two levels down', { summary: { transcript: { headShare: 0.4 } } }],
  ['a choice', { keep: { tailReaches: 'at_least' } }],
  ['a list', { summary: { sections: [{ title: 'Left', subject: 'open', instruction: 'What is left.' }] } }],
  ['words around a summary', { summary: { framing: { opening: '<summary>', closing: '</summary>' } } }],
  ['words in the place of what is clipped', { placeholders: { clip: '[{{omitted}} characters]' } }],
  ['something that the preset does not have', { requestStubs: { newestImagesOnly: true } }],
  ['something that the preset has, taken away', { summary: { sharesPrefix: null } }],
] as const satisfies readonly (readonly [string, PolicyChanges])[])('%s', (_, changes) => {
  expect(policyChanges.parse(changes)).toEqual(changes);
  expect(DEFAULT_POLICY).not.toMatchObject(changes);
  expect(changePolicy(DEFAULT_POLICY, changes)).toMatchObject(changes);
});

test('an amount replaces the whole amount and is taken as it is', () => {
  const changed = changePolicy(DEFAULT_POLICY, { keep: { tail: { tokens: 6 } }, target: { fraction: 0.1 } });
  expect(changed.keep).toEqual({ ...DEFAULT_POLICY.keep, tail: { tokens: 6, exact: true } });
  expect(changed.target).toEqual({ fraction: 0.1, exact: true });
  expect(changePolicy(DEFAULT_POLICY, { trigger: { tokens: 9, exact: false } }).trigger).toEqual({
    tokens: 9,
    exact: false,
  });
});

test('a prompt is given whole and does not pass as the one of the preset', () => {
  const text = 'Write {{sections}}';
  const { prompts } = changePolicy(DEFAULT_POLICY, { summary: { prompts: { history: { text } } } }).summary;
  expect(prompts).toEqual({ ...DEFAULT_POLICY.summary.prompts, history: { name: 'own', version: 1, text } });
});

test('a prompt for transcripts asks for each summary, unless the prefix is given a prompt too', () => {
  const text = 'Write {{sections}}';
  const shared = (summary: PolicyChanges['summary']) =>
    changePolicy(DEFAULT_POLICY, policyChanges.parse({ summary })).summary.sharesPrefix?.text ?? null;
  expect(shared({ prompts: { history: { text } } })).toBeNull();
  expect(shared({ prompts: { update: { text } } })).toBeNull();
  expect(shared({ prompts: { history: { text } }, sharesPrefix: { text } })).toBe(text);
  expect(shared({ prompts: { merge: { text }, update: null } })).toBe(DEFAULT_POLICY.summary.sharesPrefix?.text);
});

test('a way of counting that is given in part has defaults', () => {
  expect(changePolicy(DEFAULT_POLICY, { counting: { charactersPerToken: 2 } }).counting).toEqual({
    charactersPerToken: 2,
    imageCharacters: null,
    reported: 'plus_estimate',
    unreported: 'estimate',
  });
});

test('an output reserve counts for every model', () => {
  expect(changePolicy(DEFAULT_POLICY, { outputReserve: { tokens: 0 } })).toMatchObject({
    outputReserve: { tokens: 0, exact: true },
    outputReserves: {},
  });
});

describe('reducers', () => {
  test('options of one replace its own, the others stay', () => {
    const before = optionsOf('clip', {});
    expect(optionsOf('clip', { reduce: { clip: { headLimit: 1 } } })).toEqual({ ...Object(before), headLimit: 1 });
    expect(
      optionsOf('clear_tool_results', { reduce: { clear_tool_results: { protect: { tokens: 1 } } } }),
    ).toMatchObject({ protect: { tokens: 1, exact: true }, minimum: { tokens: 20_000 } });
  });

  test('false leaves one out, a new one comes last', () => {
    const names = DEFAULT_POLICY.reduce.map(({ use }) => use);
    const changed = changePolicy(DEFAULT_POLICY, { reduce: { clear_tool_results: false, own: { keep: 3 } } });
    expect(changed.reduce.map(({ use }) => use)).toEqual([
      ...names.filter((use) => use !== 'clear_tool_results'),
      'own',
    ]);
    expect(changed.reduce.at(-1)?.options).toEqual({ keep: 3 });
  });

  test('of your own one, options that are called like those of an amount or a prompt are taken as they are', () => {
    const preset = {
      ...DEFAULT_POLICY,
      reduce: [{ use: 'own', options: { tokens: 5, keep: 3, note: { text: 'a', to: 'b' } } }],
    };
    const { reduce } = changePolicy(preset, { reduce: { own: { tokens: 9, note: { text: 'new' } } } });
    expect(reduce).toEqual([{ use: 'own', options: { tokens: 9, keep: 3, note: { text: 'new', to: 'b' } } }]);
  });
});

describe('what is wrong', () => {
  const pathsOf = (changes: unknown): string[] =>
    (policyChanges.safeParse(changes).error?.issues ?? []).map(({ path }) => path.join('.'));

  test.each([
    ['keep.tial', { keep: { tial: 3 } }, 'keep'],
    ['a fraction over 1', { trigger: { fraction: 85 } }, 'trigger.fraction'],
    ['an amount without a number', { trigger: { of: 'window' } }, 'trigger'],
    ['a negative gain', { minimumGain: -0.1 }, 'minimumGain'],
    [
      'a prompt without sections',
      { summary: { prompts: { history: { text: 'Sum up.' } } } },
      'summary.prompts.history',
    ],
    ['the same behind the prefix', { summary: { sharesPrefix: { text: 'Sum up.' } } }, 'summary.sharesPrefix'],
    ['no sections', { summary: { sections: [] } }, 'summary.sections'],
  ])('%s is refused', (_, changes, path) => {
    expect(pathsOf(changes)).toContain(path);
  });

  const continuation = { afterSummary: 'a', afterExtract: 'a', withoutSummary: 'a' };
  const section = { title: 'Goal', instruction: 'State it.' };

  test.each([
    ['placeholders.clip', { placeholders: { clip: '' } }],
    ['placeholders.strip', { placeholders: { strip: '' } }],
    ['placeholders.clear', { placeholders: { clear: '' } }],
    ['continuationText', { continuationText: '' }],
    ['continuationText.afterSummary', { continuationText: { ...continuation, afterSummary: '' } }],
    ['continuationText.afterExtract', { continuationText: { ...continuation, afterExtract: '' } }],
    ['continuationText.withoutSummary', { continuationText: { ...continuation, withoutSummary: '' } }],
    ['summary.framing.opening', { summary: { framing: { opening: '', closing: '' } } }],
    ['summary.extractOpening', { summary: { extractOpening: '' } }],
    ['summary.sections.0.title', { summary: { sections: [{ ...section, title: '' }] } }],
    ['summary.sections.0.instruction', { summary: { sections: [{ ...section, instruction: '' }] } }],
  ])('an empty text of %s is refused: nothing would be shown in its place', (path, changes) => {
    expect(pathsOf(changes)).toContain(path);
  });

  test('two sections of one title are refused', () => {
    const [section] = DEFAULT_POLICY.summary.sections;
    const sections = [section, section];
    expect(pathsOf({ summary: { sections } })).toContain('summary.sections');
    const policy = { ...DEFAULT_POLICY, summary: { ...DEFAULT_POLICY.summary, sections } };
    expect(compactionPolicy.safeParse(policy).success).toBe(false);
  });

  test('a part of something that the preset does not have names what is missing', () => {
    const issues = changeProblems(DEFAULT_POLICY, { summary: { flush: { cooldown: 1 } } });
    expect(issues.map(({ path }) => path.join('.'))).toContain('summary.flush.prompt');
  });
});
