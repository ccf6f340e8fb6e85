import type { TimelineEvent } from '../api/types.ts';

/** Data of an event by name, where it is of that type. */
export function numberOf(event: TimelineEvent, name: string): number | null {
  const value = event.data[name];
  return typeof value === 'number' ? value : null;
}

export function textOf(event: TimelineEvent, name: string): string {
  const value = event.data[name];
  return typeof value === 'string' ? value : '';
}
