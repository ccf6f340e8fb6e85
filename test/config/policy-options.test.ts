import { expect, expectTypeOf, test } from 'vitest';
import { overridePolicy } from '../../src/config/override-policy.ts';
import { policyOptions, type PolicyOptions } from '../../src/config/policy-options.ts';
import type { CompactionPolicy, Reducer } from '../../src/context/policy/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';

const reducerOf = (policy: CompactionPolicy, kind: Reducer['kind']) =>
  policy.reduce.find((reducer) => reducer.kind === kind);

test('no options change nothing', () => {
  expect(overridePolicy(DEFAULT_POLICY, {})).toEqual(DEFAULT_POLICY);
});

test('every option of a policy that is no text can be overridden', () => {
  type Texts = 'continuationPrompts' | 'runtimeNote' | 'placeholders';
  // A user sets `outputReserve` for the model itself.
  type Overridable = Exclude<keyof CompactionPolicy, 'name' | 'outputReserves' | Texts>;
  expectTypeOf<keyof PolicyOptions>().toEqualTypeOf<Overridable>();
  expectTypeOf<keyof NonNullable<PolicyOptions['keep']>>().toEqualTypeOf<keyof CompactionPolicy['keep']>();
  type SummaryTexts = 'prompts' | 'sections' | 'turnPrefixSections' | 'framing' | 'extractOpening';
  type Summary = Exclude<keyof CompactionPolicy['summary'], SummaryTexts>;
  expectTypeOf<keyof NonNullable<PolicyOptions['summary']>>().toEqualTypeOf<Summary>();
  expectTypeOf<keyof NonNullable<PolicyOptions['reduce']>>().toEqualTypeOf<Reducer['kind']>();
  type OptionsOf<Kind extends Reducer['kind']> = Exclude<
    NonNullable<NonNullable<PolicyOptions['reduce']>[Kind]>,
    false
  >;
  type KeysOf<Kind extends Reducer['kind']> = Exclude<keyof Extract<Reducer, { kind: Kind }>, 'kind'>;
  expectTypeOf<keyof OptionsOf<'clip'>>().toEqualTypeOf<KeysOf<'clip'>>();
  expectTypeOf<keyof OptionsOf<'clear_tool_results'>>().toEqualTypeOf<KeysOf<'clear_tool_results'>>();
  expectTypeOf<keyof OptionsOf<'cap_tool_results'>>().toEqualTypeOf<KeysOf<'cap_tool_results'>>();
  expectTypeOf<keyof OptionsOf<'strip_images'>>().toEqualTypeOf<KeysOf<'strip_images'>>();
});

/** One changed value per option; each must show in the policy, at the same path. */
const CHANGES: readonly (readonly [string, PolicyOptions, (policy: CompactionPolicy) => unknown, unknown])[] = [
  ['enabled', { enabled: false }, (policy) => policy.enabled, false],
  ['window', { window: 50_000 }, (policy) => policy.window, 50_000],
  ['checkAfterLastStep', { checkAfterLastStep: true }, (policy) => policy.checkAfterLastStep, true],
  ['reduceAfterTurn', { reduceAfterTurn: true }, (policy) => policy.reduceAfterTurn, true],
  [
    'counting',
    { counting: { charactersPerToken: 2 } },
    (policy) => policy.counting,
    { charactersPerToken: 2, imageCharacters: null, reported: 'plus_estimate', unreported: 'estimate' },
  ],
  ['trigger', { trigger: { tokens: 5 } }, (policy) => policy.trigger, { tokens: 5, exact: true }],
  [
    'target',
    { target: { fraction: 0.1, of: 'window' } },
    (policy) => policy.target,
    { fraction: 0.1, of: 'window', exact: true },
  ],
  ['outputReserve', { outputReserve: { tokens: 0 } }, (policy) => policy.outputReserve, { tokens: 0, exact: true }],
  ['keep.tail', { keep: { tail: { tokens: 6 } } }, (policy) => policy.keep.tail, { tokens: 6, exact: true }],
  [
    'keep.userMessages',
    { keep: { userMessages: { tokens: 7 } } },
    (policy) => policy.keep.userMessages,
    { tokens: 7, exact: true },
  ],
  ['keep.splitTurns', { keep: { splitTurns: false } }, (policy) => policy.keep.splitTurns, false],
  ['keep.tailReaches', { keep: { tailReaches: 'at_least' } }, (policy) => policy.keep.tailReaches, 'at_least'],
  ['keep.pivot', { keep: { pivot: true } }, (policy) => policy.keep.pivot, true],
  ['keep.minimumMessages', { keep: { minimumMessages: 4 } }, (policy) => policy.keep.minimumMessages, 4],
  [
    'summary.turnPrefixOutput',
    { summary: { turnPrefixOutput: { tokens: 4 } } },
    (policy) => policy.summary.turnPrefixOutput,
    { tokens: 4, exact: true },
  ],
  ['summary.appendedShare', { summary: { appendedShare: 0.3 } }, (policy) => policy.summary.appendedShare, 0.3],
  [
    'summary.fileLists',
    { summary: { fileLists: { read: ['a'] } } },
    (policy) => policy.summary.fileLists,
    { read: ['a'], modified: [] },
  ],
  [
    'summary.results',
    { summary: { results: { tokens: 9 } } },
    (policy) => policy.summary.results,
    { tokens: 9, exact: true },
  ],
  ['summary.question', { summary: { question: 'So?' } }, (policy) => policy.summary.question, 'So?'],
  ['continuationText', { continuationText: 'On.' }, (policy) => policy.continuationText, 'On.'],
  ['summary.when', { summary: { when: 'never' } }, (policy) => policy.summary.when, 'never'],
  [
    'summary.hiddenMaximum',
    { summary: { hiddenMaximum: { tokens: 9 } } },
    (policy) => policy.summary.hiddenMaximum,
    { tokens: 9, exact: true },
  ],
  [
    'summary.maximumOutput',
    { summary: { maximumOutput: { tokens: 8 } } },
    (policy) => policy.summary.maximumOutput,
    { tokens: 8, exact: true },
  ],
  ...(['user', 'assistant', 'toolResult', 'toolInput', 'total'] as const).map(
    (limit) =>
      [
        `summary.transcript.${limit}`,
        { summary: { transcript: { [limit]: 77 } } },
        (policy: CompactionPolicy) => policy.summary.transcript[limit],
        77,
      ] as const,
  ),
  [
    'summary.transcript.headShare',
    { summary: { transcript: { headShare: 0.4 } } },
    (policy) => policy.summary.transcript.headShare,
    0.4,
  ],
  ['summary.model', { summary: { model: 'a/b' } }, (policy) => policy.summary.model, 'a/b'],
  ['continuation', { continuation: 'always' }, (policy) => policy.continuation, 'always'],
  ['minimumGain', { minimumGain: 0 }, (policy) => policy.minimumGain, 0],
  ['overflowRecoveries', { overflowRecoveries: 2 }, (policy) => policy.overflowRecoveries, 2],
  ['forcedTargetFactor', { forcedTargetFactor: 0.123 }, (policy) => policy.forcedTargetFactor, 0.123],
];

test.each(CHANGES)('%s', (_, options, read, expected) => {
  expect(policyOptions.parse(options)).toEqual(options);
  const changed = overridePolicy(DEFAULT_POLICY, options);
  expect(read(DEFAULT_POLICY)).not.toEqual(expected);
  expect(read(changed)).toEqual(expected);
});

test('each option of a reducer replaces its value, the others stay', () => {
  const clip = {
    of: ['user' as const],
    headFraction: 0.5,
    headLimit: 1,
    tailFraction: 0.6,
    tailLimit: 2,
    minimumCharacters: 3,
    protectNewest: 4,
    protectErrors: false,
    protectedTools: ['a'],
  };
  const changed = overridePolicy(DEFAULT_POLICY, { reduce: { clip } });
  expect(reducerOf(changed, 'clip')).toEqual({ kind: 'clip', ...clip });
  for (const [option, value] of Object.entries(clip)) {
    const one = overridePolicy(DEFAULT_POLICY, {
      reduce: { clip: policyOptions.parse({ reduce: { clip: { [option]: value } } }).reduce?.clip },
    });
    expect(reducerOf(one, 'clip')).toEqual({ ...reducerOf(DEFAULT_POLICY, 'clip'), [option]: value });
  }
  const clearing = {
    protect: { tokens: 1 },
    minimum: { tokens: 2 },
    protectedTools: ['b'],
    protectTurns: 3,
    placeholder: 'gone',
  };
  expect(
    reducerOf(overridePolicy(DEFAULT_POLICY, { reduce: { clear_tool_results: clearing } }), 'clear_tool_results'),
  ).toEqual({
    kind: 'clear_tool_results',
    protect: { tokens: 1, exact: true },
    minimum: { tokens: 2, exact: true },
    protectedTools: ['b'],
    protectTurns: 3,
    placeholder: 'gone',
  });
  const images = overridePolicy(DEFAULT_POLICY, { reduce: { strip_images: { keepNewest: 9 } } });
  expect(reducerOf(images, 'strip_images')).toEqual({ kind: 'strip_images', keepNewest: 9 });
});

test('false leaves a reducer out, the others keep their order', () => {
  const kinds = DEFAULT_POLICY.reduce.map((reducer) => reducer.kind);
  const changed = overridePolicy(DEFAULT_POLICY, { reduce: { clear_tool_results: false } });
  expect(changed.reduce.map((reducer) => reducer.kind)).toEqual(kinds.filter((kind) => kind !== 'clear_tool_results'));
});
