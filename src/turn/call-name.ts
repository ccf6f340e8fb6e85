/**
 * The name of a tool call for people: number of its turn in the conversation, of the model call in the turn, and index in the answer.
 * Unique in the conversation.
 */
export interface CallName {
  /** Counts from 1, like `holdfast view`. */
  readonly turnNumber: number;
  readonly callNumber: number;
  readonly callIndex: number;
}

export function writeCallName({ turnNumber, callNumber, callIndex }: CallName): string {
  return `${turnNumber}.${callNumber}.${callIndex}`;
}

/** `null` if the text is no such name. */
export function readCallName(text: string): CallName | null {
  const parts = /^([1-9]\d{0,8})\.(\d{1,9})\.(\d{1,9})$/u.exec(text.trim());
  if (parts === null) return null;
  return { turnNumber: Number(parts[1]), callNumber: Number(parts[2]), callIndex: Number(parts[3]) };
}
