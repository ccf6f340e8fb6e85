import { z } from 'zod';
import { characters, count, fraction, object, toolNames } from '../../policy/policy-parts.ts';
import { clipOperation } from '../../log/operations.ts';
import { isUnseen, operationOn, shownMeasurements, shownTokens, tryOperation } from '../planning-state.ts';
import type { Draft, PlanningState } from '../planning-state.ts';
import { reducer } from './reducer.ts';

/** Below this a clip's label costs more than it wins (seeds/wolffish.md's code). Characters. */
const WORTH_CLIPPING = 200;

const clippedKind = z.enum(['tool_result', 'assistant', 'user']);

const options = object({
  of: z.array(clippedKind).readonly().meta({
    description:
      'Kinds of contents to clip, in this order. Of tool results the largest go first, of the others the oldest.',
  }),
  headFraction: fraction.meta({ description: 'Part of a content kept at its start.', unit: '0 to 1' }),
  headLimit: characters.meta({ description: 'Most that is kept at the start.', unit: 'characters' }),
  tailFraction: fraction.meta({ description: 'Part of a content kept at its end.', unit: '0 to 1' }),
  tailLimit: characters.meta({ description: 'Most that is kept at the end.', unit: 'characters' }),
  minimumCharacters: characters.meta({ description: 'Shorter contents stay whole.', unit: 'characters' }),
  protectNewest: count.meta({ description: 'Newest entries of each role that stay whole.', unit: 'entries' }),
  protectErrors: z.boolean().default(true).meta({ description: 'Results of failed calls stay whole.' }),
  protectedTools: toolNames.default([]).meta({ description: 'Tools whose results stay whole.' }),
  protectFirstUserMessage: z.boolean().default(false).meta({ description: 'The first user message stays whole.' }),
  unseen: z.boolean().default(false).meta({
    description: 'Whether the reducer may clip contents that no request has held yet. A summary must cover them.',
  }),
  expectedRetention: fraction.nullable().default(null).meta({
    description: 'Part of a content that counts as kept while contents are chosen. `null`: what head and tail keep.',
    unit: '0 to 1',
  }),
});

type Options = z.output<typeof options>;

/** Keeps head and tail of large contents, until the view, or what the policy expects of it, is down to the goal. */
export const clipReducer = reducer({
  name: 'clip',
  options,
  apply: (state, draft, given, goal) => {
    const { expectedRetention } = given;
    let expected = draft.tokens;
    for (const position of candidatesOfKinds(state, draft, given)) {
      if ((expectedRetention === null ? draft.tokens : expected) <= goal) return;
      const size = state.table.charactersAt(position);
      const head = Math.floor(Math.min(size * given.headFraction, given.headLimit));
      const tail = Math.floor(Math.min(size * given.tailFraction, given.tailLimit));
      if (size <= head + tail + WORTH_CLIPPING) continue;
      const keepMedia = shownMeasurements(state, draft, position).images > 0;
      const before = shownTokens(state, draft, position);
      const operation = clipOperation(state.table.at(position), { head, tail, keepMedia });
      if (!tryOperation(state, draft, position, operation)) continue;
      expected -= before * (1 - (expectedRetention ?? 0));
    }
  },
});

/** Kind after kind, each looked for when the one before it is through. */
function* candidatesOfKinds(state: PlanningState, draft: Draft, given: Options): Generator<number> {
  for (const kind of given.of) yield* clipCandidates(state, draft, given, kind);
}

function clipCandidates(
  state: PlanningState,
  draft: Draft,
  given: Options,
  kind: z.output<typeof clippedKind>,
): number[] {
  const { table } = state;
  const { kept } = state.arrangement;
  const ofKind = kept.filter((position) => table.kindAt(position) === kind);
  const older = ofKind.subarray(0, Math.max(0, ofKind.length - given.protectNewest));
  const candidates = Array.from(older).filter((position) => isClippable(state, draft, position, given));
  if (kind !== 'tool_result') return candidates;
  return candidates.sort((left, right) => table.charactersAt(right) - table.charactersAt(left));
}

function isClippable(state: PlanningState, draft: Draft, position: number, given: Options): boolean {
  const { table } = state;
  if (!given.unseen && isUnseen(state, position)) return false;
  if (table.charactersAt(position) < given.minimumCharacters) return false;
  if (given.protectFirstUserMessage && position === state.firstUserMessage) return false;
  if (given.protectErrors && table.isErrorAt(position)) return false;
  if (given.protectedTools.includes(table.toolNameAt(position))) return false;
  const inForce = operationOn(state, draft, position)?.kind;
  return inForce === undefined || inForce === 'strip';
}
