/**
 * A tool call as people name it: number of its turn in the conversation, number of the model call in the turn, and index in
 * the answer. The last two repeat in every turn; with the turn no other call of the conversation ever has the name.
 */
export interface CallName {
  /** From 1, as `holdfast view` counts turns. */
  readonly turnNumber: number;
  readonly callNumber: number;
  readonly callIndex: number;
}

/** As in `3.2.0`. */
export function writeCallName({ turnNumber, callNumber, callIndex }: CallName): string {
  return `${turnNumber}.${callNumber}.${callIndex}`;
}

/** `null` for what is no such name. */
export function readCallName(text: string): CallName | null {
  const parts = /^([1-9]\d{0,8})\.(\d{1,9})\.(\d{1,9})$/u.exec(text.trim());
  if (parts === null) return null;
  return { turnNumber: Number(parts[1]), callNumber: Number(parts[2]), callIndex: Number(parts[3]) };
}
