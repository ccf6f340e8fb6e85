/** A file of text as a part of a user's message. */
export function attachedText(name: string, text: string): string {
  return `File ${name.replaceAll(/\s+/gu, ' ')}:\n${text}`;
}

const ATTACHED = /^File [^\n]+:\n/u;

/**
 * Whether a part of a message is the text of a file: that is what the file says, not the user. Who types it so himself is not taken
 * at his word, which does no harm.
 */
export function isAttachedText(text: string): boolean {
  return ATTACHED.test(text);
}
