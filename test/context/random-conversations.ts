import * as fc from 'fast-check';
import { Conversation, prose } from './builders.ts';
import type { ModelLimits, PlanInput } from '../../src/context/plan/plan.ts';

/** One thing that happens to a conversation. Sizes in characters. */
export type Happening =
  | { readonly kind: 'turn'; readonly characters: number }
  | { readonly kind: 'steer'; readonly characters: number }
  | {
      readonly kind: 'step';
      readonly results: readonly number[];
      /** Seed of the order in which results arrive. */
      readonly shuffle: number;
      readonly said: number;
      readonly isError: boolean;
      /** The last call never got a result. */
      readonly open: boolean;
    }
  | { readonly kind: 'answer'; readonly characters: number }
  | { readonly kind: 'plan'; readonly characters: number }
  | { readonly kind: 'overflow' };

const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 3_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 3_000, max: 20_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 20_000, max: 70_000 }) },
);

const step: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constant('step' as const),
  results: fc.array(size, { minLength: 1, maxLength: 6 }),
  shuffle: fc.nat(1_000),
  said: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 800 })),
  isError: fc.boolean(),
  open: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0),
});

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 12, arbitrary: step },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn' as const), characters: size }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('steer' as const), characters: fc.integer({ min: 1, max: 900 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('answer' as const), characters: fc.integer({ min: 1, max: 4_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('plan' as const), characters: fc.integer({ min: 1, max: 900 }) }),
  },
  { weight: 1, arbitrary: fc.constant<Happening>({ kind: 'overflow' }) },
);

export const happenings: fc.Arbitrary<readonly Happening[]> = fc
  .array(happening, { minLength: 10, maxLength: 60 })
  .map((list) => list.toSpliced(0, 0, { kind: 'turn', characters: 400 }));

export const limits: fc.Arbitrary<ModelLimits> = fc.constantFrom(
  { window: 8_192, maximumOutput: 2_048 },
  { window: 16_384, maximumOutput: 4_096 },
  { window: 32_768, maximumOutput: 8_192 },
);

/** Appends what happened; says why a pass is looked for after it. */
export function happen(conversation: Conversation, event: Happening, seed: number): PlanInput['reason'] {
  const { log } = conversation;
  switch (event.kind) {
    case 'turn':
      log.user(`Request ${seed}: ${prose(event.characters, seed)}`);
      return 'threshold';
    case 'steer':
      log.steer(`Correction ${seed}: ${prose(event.characters, seed)}`);
      return 'threshold';
    case 'step': {
      const order = shuffled(
        event.results.map((_, index) => index),
        event.shuffle,
      );
      log.step(
        event.results.map((characters, index) => `Result ${seed}.${index}: ${prose(characters, seed + index)}`),
        {
          order: event.open ? order.filter((index) => index !== event.results.length - 1) : order,
          isError: event.isError,
          ...(event.said > 0 && { said: prose(event.said, seed) }),
        },
      );
      return 'threshold';
    }
    case 'answer':
      log.answer(`Answer ${seed}: ${prose(event.characters, seed)}`);
      return 'threshold';
    case 'plan':
      log.note('plan', `Plan ${seed}: ${prose(event.characters, seed)}`);
      return 'threshold';
    case 'overflow':
      return 'overflow';
  }
}

function shuffled(values: readonly number[], seed: number): number[] {
  let state = seed + 1;
  const rest = [...values];
  const result: number[] = [];
  while (rest.length > 0) {
    state = (state * 48_271) % 2_147_483_647;
    result.push(...rest.splice(state % rest.length, 1));
  }
  return result;
}
