/** The command line asks for something that cannot be: what, and what to type instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: 'usage' | 'conversation_ambiguous' | 'conversation_not_found' | 'no_conversation';
  /** What the user can do, one sentence. */
  readonly next: string;

  constructor(code: UsageError['code'], message: string, next: string) {
    super(message);
    this.code = code;
    this.next = next;
  }
}
