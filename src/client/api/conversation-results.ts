import { z } from 'zod';
import type { WindowBreakdown, WindowFill } from '../../context/plan/plan.ts';

// What the client answers about conversations, turns and what waits in them: the types of the library, of the routes and of the reference.

export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int();
export const isoTime = z.string().meta({ format: 'date-time' });

/** What a send returns once its row is written; the turn is rung in the background. */
export const sentMessage = z
  .object({
    conversationId: z.string(),
    messageId: z.string(),
    /** The same id and content had been sent before: nothing was written. */
    duplicate: z.boolean(),
  })
  .meta({ id: 'SentMessage' });

/** A command that found nothing to act on, such as a stop for an idle conversation or a resume of what is done by then: no turn took it. */
export const servedCommand = z
  .object({
    turnId: z.null(),
    state: z.literal('served'),
    outcome: z.literal('nothing_to_do'),
    reason: z.null(),
    /** One sentence for a person. */
    explanation: z.string(),
    text: z.literal(''),
  })
  .meta({ id: 'ServedCommand' });

/** Tokens by kind of content. */
export const windowFill = z
  .object({
    fixed: count,
    summary: count,
    userMessages: count,
    assistantMessages: count,
    toolResults: count,
    notes: count,
  })
  .meta({ id: 'WindowFill' }) satisfies z.ZodType<WindowFill>;

/** Tokens of the window by kind. */
export const windowBreakdown = windowFill
  .extend({
    total: count,
    inputBudget: count,
    window: count,
  })
  .meta({ id: 'WindowBreakdown' }) satisfies z.ZodType<WindowBreakdown>;

const outcome = z.enum([
  'completed',
  'stopped',
  'budget_exhausted',
  'context_exhausted',
  'model_failed',
  'refused',
  'interrupted',
]);

export const turnSummary = z
  .object({
    turnId: z.string(),
    state: z.enum([
      'running',
      'waiting_for_approval',
      'waiting_for_answer',
      'waiting_for_rate_limit',
      'waiting_for_worker',
      'ended',
    ]),
    outcome: outcome.nullable(),
    /** Code of what led to the outcome. */
    reason: z.string().nullable(),
    /** One sentence for a person: what happened and what can be done next. */
    explanation: z.string().nullable(),
    /** In force: the agent's own, or a fallback. */
    model: z.string(),
    /** Models that were given up for a fallback, oldest first. */
    preset: z.string(),
    givenUp: listOf(z.object({ model: z.string(), callNumber: count, reason: z.string() })),
    /** A compaction or a change of branch in an idle conversation: no task, so there is none to resume, but for `tookMessages`. */
    commandOnly: z.boolean(),
    /** A message of the user stands in it: also in a command that was stopped, with what was sent before the stop. */
    tookMessages: z.boolean(),
    steps: count,
    modelCalls: count,
    compactions: count,
    overflows: count,
    usage: z.object({ input: count, cacheRead: count, cacheWrite: count, output: count }),
    /** Dollars; `null` when a price is unknown. */
    cost: z.number().nullable(),
    startedAt: isoTime,
    endedAt: isoTime.nullable(),
    /** What filled the window when the outcome is `context_exhausted`. */
    breakdown: windowBreakdown.nullable(),
  })
  .meta({ id: 'TurnSummary' });

export const endedTurn = turnSummary
  .extend({
    state: z.literal('ended'),
    outcome,
    explanation: z.string(),
    /** The final answer; empty when the turn ended without one. */
    text: z.string(),
  })
  .meta({ id: 'EndedTurn' });

/** A tool call that waits for a person. */
export const waitingCall = z
  .object({
    /**
     * Names the call in the conversation, for ever: number of the turn, number of the model call in the turn, index in the
     * answer, as in `3.2.0`.
     */
    call: z.string(),
    turnId: z.string(),
    /** `approval`: approve or deny it. `question`: answer it. */
    kind: z.enum(['approval', 'question']),
    tool: z.string(),
    /** JSON as the model wrote it. */
    arguments: z.string(),
    /** All rules that made it ask; a decision for the turn or the agent stands for each of them. */
    rules: listOf(z.string()),
    requestedAt: isoTime,
    /** When it counts as denied or not answered. */
    expiresAt: isoTime,
  })
  .meta({ id: 'WaitingCall' });

/** A tool call that waits in one of the tenant's conversations. */
export const waitingCallOfTenant = waitingCall
  .extend({ conversationId: z.string(), agent: z.string() })
  .meta({ id: 'WaitingCallOfTenant' });

/** A tool call on which was decided. */
export const decidedCall = waitingCallOfTenant
  .omit({ requestedAt: true, expiresAt: true })
  .extend({
    decision: z.enum(['approved', 'denied', 'answered', 'expired']),
    /** How far it reaches; `null` for one that expired. */
    scope: z.enum(['call', 'turn', 'agent']).nullable(),
    /** The reason or the answer. */
    text: z.string().nullable(),
    /** Name of a person or of an API key, where one was told. */
    decidedBy: z.string().nullable(),
    decidedAt: isoTime,
    /** An earlier decision for the turn or the agent covered it. */
    covered: z.boolean(),
  })
  .meta({ id: 'DecidedCall' });

export const conversation = z
  .object({
    conversationId: z.string(),
    agent: z.string(),
    model: z.string().nullable(),
    /** Whose memories of scope `user` it is shown and writes; `null`: those of its agent's own user. */
    user: z.string().nullable(),
    /** First line of the first message, clipped. */
    title: z.string(),
    createdAt: isoTime,
    /** Of all branches: also the sequence of the newest entry. `log.count` counts those of the active one. */
    entryCount: count,
    /** Number of the newest event of the timeline: what `watch` takes as `afterSequence` to tell only what comes. */
    eventCount: count,
    waitingMessages: count,
    /** Tokens of the newest model call as they were estimated, and those that its window had for it; `null` before the first. */
    fill: z.object({ tokens: count, inputBudget: count.nullable() }).nullable(),
    /** Secrets of well-known forms that were replaced in summaries and in what they were made from. */
    secretsRedacted: count,
    /** Tool calls of the open turn that wait for a person. */
    waitingCalls: listOf(waitingCall),
    /** The newest turn; `null` before the first one began. */
    turn: turnSummary.nullable(),
  })
  .meta({ id: 'Conversation' });

/** A run whose history Temporal keeps after its conversation was deleted: ids and counts, no text. */
export const workflowRun = z.object({
  workflowId: z.string(),
  /** `null` for one that began no turn: it may be there, or not. */
  runId: z.string().nullable(),
});

export const importedConversation = z
  .object({
    conversationId: z.string(),
    turns: count,
    entries: count,
    /** Rules that are pinned in it. */
    pins: count,
    /** How many memories came with it, and whom they are shown to. They are data there, whoever the file says they are from. */
    memories: listOf(z.object({ scope: z.enum(['agent', 'user', 'workspace']), scopeName: z.string(), count })),
  })
  .meta({ id: 'ImportedConversation' });

export const sentDecision = z
  .object({
    conversationId: z.string(),
    /** The call that was decided, as in `WaitingCall`. */
    call: z.string(),
    turnId: z.string(),
    tool: z.string(),
    /** JSON as the model wrote it. */
    arguments: z.string(),
    /** All rules that made it ask: for the turn or the agent, what the decision stands for. */
    rules: listOf(z.string()),
    /** The same id had decided it before: nothing was written. */
    duplicate: z.boolean(),
    /** Waiting calls that it decided, with `for: 'agent'` also those of other conversations. */
    decided: count,
  })
  .meta({ id: 'SentDecision' });

/** A decision for all turns of an agent. */
export const standingApproval = z
  .object({
    agent: z.string(),
    rule: z.string(),
    decision: z.enum(['approved', 'denied']),
    decidedAt: isoTime,
  })
  .meta({ id: 'StandingApproval' });

/** Part of a list, in the order of the list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: listOf(item),
    /** Whether the list goes on beyond it, in the direction in which it was asked for. */
    hasMore: z.boolean(),
  });
