import type { MessageKind } from './messages.ts';

/**
 * Whether the newest stop that waits is meant for the turn that begins. It is when something waited before it, unless a later
 * message or `resume` says that the user goes on: another command does not. Of compactions alone, a later one says that it is
 * wanted after all.
 * @param waiting kinds of what waits, in order of arrival
 */
export function isStopMeant(waiting: readonly MessageKind[]): boolean {
  const stop = waiting.lastIndexOf('stop');
  const before = waiting.slice(0, Math.max(0, stop)).filter((kind) => kind !== 'stop');
  const after = waiting.slice(stop + 1);
  if (before.length === 0 || after.some((kind) => kind === 'message' || kind === 'resume')) return false;
  return !(before.every((kind) => kind === 'compact') && after.includes('compact'));
}
