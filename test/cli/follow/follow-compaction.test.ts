import { expect, test } from 'vitest';
import { NO_DISPLAY } from '../../../src/cli/follow/display.ts';
import { followCompaction } from '../../../src/cli/follow/follow-compaction.ts';
import { turnFigures } from '../../../src/cli/render/outcome-words.ts';
import type { Conversation, TimelineEvent, TurnSummary, WatchUpdate } from '../../../src/client/types.ts';
import { timelineEvent, TURN_ID } from '../render/timeline.ts';

const CONVERSATION: Conversation = {
  conversationId: '01981f3c-0000-7000-8000-00000000000c',
  agent: 'default',
  model: null,
  title: 'A task',
  createdAt: new Date(0).toISOString(),
  entryCount: 9,
  eventCount: 4,
  waitingMessages: 0,
  secretsRedacted: 0,
  waitingCalls: [],
  turn: null,
};

const COMMAND_TURN: TurnSummary = {
  turnId: TURN_ID,
  state: 'ended',
  outcome: 'completed',
  reason: null,
  explanation: null,
  model: 'simulator/sim-32k',
  givenUp: [],
  steps: 0,
  modelCalls: 0,
  compactions: 0,
  overflows: 0,
  usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
  cost: 0,
  startedAt: new Date(0).toISOString(),
  endedAt: new Date(2_000).toISOString(),
  breakdown: null,
};

async function follow(events: readonly TimelineEvent[], turn: Conversation['turn'] = null) {
  return followCompaction({
    client: {
      getConversation: async () => ({ ...CONVERSATION, turn }),
      async *watch(): AsyncGenerator<WatchUpdate> {
        for (const event of events) yield { type: 'event', event };
      },
    },
    conversationId: CONVERSATION.conversationId,
    display: NO_DISPLAY,
    signal: new AbortController().signal,
    request: async () => undefined,
  });
}

test('what a compaction covered is told with its end, though only its start says it', async () => {
  const compactionId = '01981f3c-0000-7000-8000-00000000000d';
  const end = await follow([
    timelineEvent('compaction_started', { compactionId, parts: 2, fromSequence: 3, toSequence: 40, tokensBefore: 900 }),
    timelineEvent('compaction_committed', { compactionId, tokensBefore: 900, tokensAfter: 300 }),
  ]);
  expect(end).toMatchObject({
    kind: 'committed',
    compaction: { parts: 2, fromSequence: 3, toSequence: 40, tokensAfter: 300 },
  });
});

test('the plan of another compaction is not taken for its own', async () => {
  const end = await follow([
    timelineEvent('compaction_started', { compactionId: 'one', parts: 2, fromSequence: 3 }),
    timelineEvent('compaction_committed', { compactionId: 'other', tokensAfter: 300 }),
  ]);
  expect(end).toMatchObject({ kind: 'committed', compaction: { parts: null, fromSequence: null } });
});

test('a request that came while a turn ended is followed to what the next turn makes of it', async () => {
  const next = { ...COMMAND_TURN, turnId: '01981f3c-0000-7000-8000-00000000000e' };
  const ended = timelineEvent('turn_ended', { outcome: 'completed', reason: null });
  const declined = timelineEvent('compaction_declined', { reason: 'below_threshold' });
  expect(await follow([ended, declined], next)).toEqual({ kind: 'nothing', reason: 'below_threshold' });
  expect(await follow([ended], COMMAND_TURN)).toEqual({ kind: 'nothing', reason: null });
});

test('a command for an idle conversation is not shown as a turn of no steps', () => {
  expect(turnFigures(COMMAND_TURN)).toBe('a command, no model step · 0 compactions · $0.00 · 2.0 s');
  expect(turnFigures({ ...COMMAND_TURN, steps: 3, modelCalls: 3 })).toMatch(/^3 steps · /u);
});
