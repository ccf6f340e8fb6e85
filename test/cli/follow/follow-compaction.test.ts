import { expect, test } from 'vitest';
import { NO_DISPLAY } from '../../../src/cli/follow/display.ts';
import { followCompaction } from '../../../src/cli/follow/follow-compaction.ts';
import { turnFigures } from '../../../src/cli/render/turn/outcome-words.ts';
import type { Conversation, TimelineEvent, WatchUpdate } from '../../../src/client/types.ts';
import type { Display } from '../../../src/cli/follow/display.ts';
import type { TurnScreenState } from '../../../src/cli/render/turn/turn-state.ts';
import { BEGIN, conversationOf, timelineEvent as unnumberedEvent, TURN_ID, turnOf } from '../render/timeline.ts';

/** An event after those that were there. */
const timelineEvent: typeof unnumberedEvent = (kind, ...told) => ({ ...unnumberedEvent(kind, ...told), sequence: 5 });

const COMMAND_TURN = turnOf({ commandOnly: true, endedAt: new Date(BEGIN + 2_000).toISOString() });

async function follow(
  events: readonly TimelineEvent[],
  conversation: Partial<Conversation> = {},
  display: Display = NO_DISPLAY,
) {
  return followCompaction({
    client: {
      conversation: {
        get: async () => conversationOf(conversation),
        async *watch({ afterSequence = 0 }): AsyncGenerator<WatchUpdate> {
          for (const event of events) if (event.sequence > afterSequence) yield { type: 'event', event };
        },
      },
    },
    conversationId: conversationOf().conversationId,
    display,
    signal: new AbortController().signal,
    request: async () => undefined,
  });
}

test('the end of a compaction is told with its figures', async () => {
  const end = await follow([timelineEvent('compaction_started'), timelineEvent('compaction_committed')]);
  expect(end).toMatchObject({ kind: 'committed', compaction: { tokensBefore: 31_204, tokensAfter: 14_880 } });
});

test('a request that came while a turn ended is followed to what the next turn makes of it', async () => {
  const next = { ...COMMAND_TURN, turnId: '01981f3c-0000-7000-8000-00000000000e' };
  const ended = timelineEvent('turn_ended', { outcome: 'completed', reason: null });
  const declined = timelineEvent('compaction_declined', { reason: 'irreducible' });
  expect(await follow([ended, declined], { turn: next })).toEqual({ kind: 'nothing', reason: 'irreducible' });
  expect(await follow([ended], { turn: COMMAND_TURN })).toEqual({ kind: 'nothing', reason: null });
});

test('a request that was stopped with its turn did not succeed, whatever the turn came to', async () => {
  const declined = timelineEvent('compaction_declined', { reason: 'stopped', tokens: 900 });
  const ended = timelineEvent('turn_ended', { outcome: 'completed', reason: null });
  const shown: string[] = [];
  const display: Display = {
    liveText: false,
    show: (_, items) => void shown.push(...items.map((item) => (item.kind === 'notice' ? item.text : item.kind))),
    close: () => undefined,
  };
  const end = await follow([declined, ended], { waitingMessages: 1 }, display);
  expect(end).toEqual({ kind: 'failed', reason: 'stopped' });
  expect(shown).toEqual(['Nothing was compacted: the request was stopped with the turn.']);
});

test('of a turn that waits for its provider the wait is shown from the beginning, and what was there is not taken for its end', async () => {
  const waiting = { ...COMMAND_TURN, state: 'waiting_for_rate_limit', outcome: null, endedAt: null } as const;
  const told = { reason: 'call_limit', provider: 'simulator', delayMilliseconds: 60_000 } as const;
  const before = { ...timelineEvent('turn_waiting', told), sequence: 4 };
  const shown: TurnScreenState[] = [];
  const display: Display = { liveText: false, show: (state) => void shown.push(state), close: () => undefined };
  const made = timelineEvent('compaction_declined', { reason: 'irreducible' });
  await follow([before, made], { turn: waiting }, display);
  expect(shown[1]?.activity).toMatchObject({ kind: 'limited', provider: 'simulator', reason: 'call_limit' });
  const earlier = { ...timelineEvent('compaction_committed', { compactionId: 'earlier' }), sequence: 4 };
  expect(await follow([earlier, made], { turn: waiting })).toEqual({ kind: 'nothing', reason: 'irreducible' });
});

test('a turn that waits for a person is shown as that, with the calls that wait', async () => {
  const call = { call: '1.1.0', kind: 'approval', tool: 'deploy', arguments: '{}', rules: ['tool deploy'] } as const;
  const times = { requestedAt: new Date(0).toISOString(), expiresAt: new Date(0).toISOString() };
  const asking = { ...COMMAND_TURN, state: 'waiting_for_approval', outcome: null, endedAt: null } as const;
  const shown: TurnScreenState[] = [];
  const display: Display = { liveText: false, show: (state) => void shown.push(state), close: () => undefined };
  await follow([], { turn: asking, waitingCalls: [{ ...call, ...times, turnId: TURN_ID }] }, display);
  expect(shown.map(({ activity }) => activity)).toEqual([{ kind: 'asking', calls: ['1.1.0'] }]);
});

test('a command for an idle conversation is not shown as a turn of no steps', () => {
  expect(turnFigures(COMMAND_TURN)).toBe('a command, no model step · 0 compactions · $0.00 · 2.0 s');
  expect(turnFigures({ ...COMMAND_TURN, commandOnly: false, steps: 3, modelCalls: 3 })).toMatch(/^3 steps · /u);
});
