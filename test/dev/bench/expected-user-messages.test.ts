import { describe, expect, it } from 'vitest';
import type { EntryOutline } from '../../../src/context/log/entry.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { ExpectedUserMessages } from '../../../dev/bench/fidelity/expected-user-messages.ts';
import { Conversation, prose } from '../../context/builders.ts';

/** One message of the user per size in characters, and what the measured budget of some of them is. */
function said(...sizes: readonly number[]) {
  const conversation = new Conversation();
  const entries: readonly EntryOutline[] = sizes.map((size, index) => conversation.log.user(prose(size, index + 1)));
  const tokens = (...places: readonly number[]): number =>
    places.reduce((sum, place) => {
      const entry = entries[place];
      return sum + (entry === undefined ? 0 : estimateTokens(entry.measurements, NO_CALIBRATION));
    }, 0);
  return { entries, tokens };
}

describe('messages that must be in the view', () => {
  it('are those from the cut on and, before it, the newest that fit together', () => {
    const { entries, tokens } = said(400, 900, 2_000, 800, 700, 600);
    const cut = entries[4]?.sequence ?? 0;
    const after = (budget: number): readonly number[] =>
      new ExpectedUserMessages(budget)
        .after({ entries, summary: { firstKeptSequence: cut } })
        .map((sequence) => sequence - (entries[0]?.sequence ?? 0));
    expect(after(tokens(2, 3))).toEqual([3, 2, 4, 5]);
    // The first that does not fit ends it: what comes before may be there or not.
    expect(after(tokens(2, 3) - 1)).toEqual([3, 4, 5]);
    expect(after(0)).toEqual([4, 5]);
  });

  it('stay as they were until the next cut', () => {
    const { entries, tokens } = said(400, 900, 2_000);
    const expected = new ExpectedUserMessages(tokens(0, 1));
    const [first, , last] = entries.map(({ sequence }) => sequence);
    const summary = { firstKeptSequence: last ?? 0 };
    const before = expected.after({ entries, summary });
    expect(before).toContain(first);
    const more = said(400, 900, 2_000, 300).entries;
    expect(expected.after({ entries: more, summary })).toEqual([...before, more[3]?.sequence]);
  });

  it('have the short one first that the running turn began with', () => {
    const { entries, tokens } = said(200, 900, 900, 900);
    const turned = entries.map((entry) => Object.assign({}, entry, { turnId: 'running' }));
    const summary = { firstKeptSequence: turned[3]?.sequence ?? 0 };
    const kept = (log: readonly EntryOutline[]): readonly number[] =>
      new ExpectedUserMessages(tokens(0, 2)).after({ entries: log, summary });
    expect(kept(turned)).toEqual([turned[0], turned[2], turned[3]].map((entry) => entry?.sequence));
    const apart = entries.map((entry, index) => Object.assign({}, entry, { turnId: `turn ${index}` }));
    expect(kept(apart)).toEqual([apart[2], apart[3]].map((entry) => entry?.sequence));
  });
});
