/** Which turn of a conversation is meant. */
export interface TurnTarget {
  /** `null`: the first one that begins after `afterTurnId`. */
  readonly turnId: string | null;
  /** Default: none, the first turn of the conversation. */
  readonly afterTurnId?: string | null;
}

export interface TurnChoice {
  /** Whether an update belongs to the turn that is meant. To be asked for each update, in order. */
  includes(turnId: string | null): boolean;
  chosen(): string | null;
}

/** Picks one turn's updates out of all of a conversation's, which come in order of their turns. */
export function chooseTurn({ turnId, afterTurnId = null }: TurnTarget): TurnChoice {
  let chosen = turnId;
  let previousSeen = afterTurnId === null;
  return {
    includes(updateTurnId) {
      if (updateTurnId === null) return false;
      if (updateTurnId === afterTurnId) {
        previousSeen = true;
        return false;
      }
      if (chosen === null && previousSeen) chosen = updateTurnId;
      return updateTurnId === chosen;
    },
    chosen: () => chosen,
  };
}
