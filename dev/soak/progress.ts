/** Looks in a row that show nothing new: at one a second, the conversation has stood still for a minute. */
export const STUCK_LOOKS = 60;

/** Attempts since the newest entry that count as progress: an activity that fails forever makes new attempts and no entry. */
const COUNTED_ATTEMPTS = 100;

/** What one look sees of a conversation with an open turn or a waiting message. */
export interface Seen {
  /** Changes with each entry, each turn and each message taken. */
  readonly log: string;
  /** Changes with each attempt of an activity. */
  readonly attempts: string;
}

export interface Progress {
  readonly seen: Seen;
  /** Looks since the last one that showed something new. A slow machine looks less often, so this counts looks and not seconds. */
  readonly idleLooks: number;
  /** Looks with a new attempt since the log changed. */
  readonly attempts: number;
}

/** Judges one more look. @param before `undefined`: the first look at this conversation */
export function advance(before: Progress | undefined, seen: Seen): Progress {
  if (before === undefined || before.seen.log !== seen.log) return { seen, idleLooks: 0, attempts: 0 };
  const isNew = before.seen.attempts !== seen.attempts && before.attempts < COUNTED_ATTEMPTS;
  if (isNew) return { seen, idleLooks: 0, attempts: before.attempts + 1 };
  return { ...before, seen, idleLooks: before.idleLooks + 1 };
}

export function isStuck({ idleLooks }: Progress): boolean {
  return idleLooks >= STUCK_LOOKS;
}
