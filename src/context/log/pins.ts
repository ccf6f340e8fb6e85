/**
 * Rules that a user pins in a conversation. They stand word for word in the system text of every request, whatever is compacted: the
 * note of rules holds the agent's own rules as its first part, and one part for each pin.
 */
import { saidText, textsOf } from './content.ts';
import type { ContentPart } from './content.ts';

/** Pins to be added, and numbers (from 1) of those to be removed. */
export interface PinChange {
  readonly add: readonly string[];
  readonly remove: readonly number[];
}

const PIN_LINE = /^\/pin[ \t]+(\S.*?)[ \t]*$/gm;
const UNPIN_LINE = /^\/unpin[ \t]+(\d+)[ \t]*$/gm;

/** What a message of the user asks for: a line `/pin <text>` for each rule, `/unpin <number>` for each that is to go. */
export function pinChange(message: readonly ContentPart[]): PinChange {
  const text = saidText(message);
  return {
    add: Array.from(text.matchAll(PIN_LINE), ([, rule = '']) => rule),
    remove: Array.from(text.matchAll(UNPIN_LINE), ([, number]) => Number(number)),
  };
}

export function pinLine(rule: string): string {
  return `/pin ${rule.replaceAll(/\s+/g, ' ').trim()}`;
}

export function unpinLine(number: number): string {
  return `/unpin ${number}`;
}

export function pinsIn(rulesNote: readonly ContentPart[]): string[] {
  return textsOf(rulesNote).slice(1);
}

/** The note of rules after a change; `null` when nothing changes. */
export function changeRules(rulesNote: readonly ContentPart[], change: PinChange): readonly ContentPart[] | null {
  const [own = '', ...pins] = textsOf(rulesNote);
  const kept = pins.filter((_, index) => !change.remove.includes(index + 1));
  const changed = [...new Set([...kept, ...change.add])];
  if (changed.join('\n') === pins.join('\n')) return null;
  return [own, ...changed].map((text) => ({ type: 'text', text }));
}

/** The agent's rules as they are now, with the pins of the note before. */
export function rulesWithPins(own: readonly ContentPart[], rulesNote: readonly ContentPart[]): readonly ContentPart[] {
  const pins = pinsIn(rulesNote);
  return pins.length === 0 ? own : [textsOf(own)[0] ?? '', ...pins].map((text) => ({ type: 'text', text }));
}
