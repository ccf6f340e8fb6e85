import { diffArrays } from 'diff';
import type { PastView } from '../api/types.ts';

type View = PastView['view'];
export type ViewMessage = View['messages'][number];

/** A message that both calls saw, or only one of them. */
export interface ComparedMessage {
  readonly change: 'same' | 'added' | 'removed';
  readonly message: ViewMessage;
}

export interface ViewDifference {
  readonly messages: readonly ComparedMessage[];
  readonly isSystemChanged: boolean;
  readonly areToolsChanged: boolean;
}

/** What a call saw that the one before it did not, and the other way round. */
export function differenceOf(before: View, after: View): ViewDifference {
  const one = before.messages.map(keyOf);
  const other = after.messages.map(keyOf);
  let placeBefore = 0;
  let placeAfter = 0;
  const messages = diffArrays(one, other).flatMap(({ added, removed, value }) =>
    value.flatMap((): ComparedMessage[] => {
      const message = removed ? before.messages[placeBefore] : after.messages[placeAfter];
      if (!added) placeBefore += 1;
      if (!removed) placeAfter += 1;
      return message === undefined ? [] : [{ change: added ? 'added' : removed ? 'removed' : 'same', message }];
    }),
  );
  return {
    messages,
    isSystemChanged: before.system !== after.system,
    areToolsChanged: JSON.stringify(before.tools) !== JSON.stringify(after.tools),
  };
}

function keyOf(message: ViewMessage): string {
  return JSON.stringify(message);
}
