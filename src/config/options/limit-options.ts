/** Options of `holdfast.yaml` that bound what turns and workers use. */
import { z } from 'zod';
import { DEFAULT_NOTE_AT } from '../../turn/spending.ts';
import { DEFAULT_AGENT } from '../default-agent.ts';

const positive = z.number().int().positive();

const amounts = {
  toolCalls: positive.optional().meta({ description: 'Tool calls.', unit: 'tool calls', defaultText: 'no limit' }),
  inputTokens: positive.optional().meta({
    description: 'Input tokens of all model calls, cached ones, summaries and calls paid twice included.',
    unit: 'tokens',
    defaultText: 'no limit',
  }),
  outputTokens: positive
    .optional()
    .meta({ description: 'Output tokens of all model calls.', unit: 'tokens', defaultText: 'no limit' }),
  cost: z.number().positive().optional().meta({
    description: 'What the model calls may cost. Calls whose price is unknown count nothing.',
    unit: 'dollars',
    defaultText: 'no limit',
  }),
};

/** `providers.<name>.limits`. */
export const providerLimits = z
  .strictObject({
    concurrentCalls: positive.optional().meta({
      description: 'Model calls at once, over all workers that share the database.',
      unit: 'model calls',
      defaultText: 'no limit',
    }),
    tokensPerMinute: positive.optional().meta({
      description:
        'Input tokens of the calls that begin within a minute, over all workers: estimated, and as reported once a call is over.',
      unit: 'tokens',
      defaultText: 'no limit',
    }),
  })
  .optional()
  .meta({ description: 'What is asked of the provider at once with one key. Places go to conversations in turn.' });

/** `agents.<name>.limits`. */
export const turnLimits = z
  .strictObject({
    steps: positive.optional().meta({
      description: 'Model calls of one turn; over it, the turn ends as `budget_exhausted`.',
      unit: 'model calls',
      defaultText: `${DEFAULT_AGENT.limits.steps}`,
    }),
    ...amounts,
    wallTime: positive.optional().meta({
      description: 'Time from the beginning of the turn, waits for people not counted; what runs then is ended.',
      unit: 'seconds',
      defaultText: 'no limit',
    }),
    idleTime: positive.optional().meta({
      description:
        'Time without an answer of the model or the end of a tool, waits for people not counted; what runs then is ended.',
      unit: 'seconds',
      defaultText: 'no limit',
    }),
    noteAt: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({
        description: 'Part of a limit from which on a note tells the model what is used, once a turn and limit.',
        unit: '0 to 1',
        defaultText: `${DEFAULT_NOTE_AT}`,
      }),
    conversation: z
      .strictObject({
        steps: positive
          .optional()
          .meta({ description: 'Model calls that were answered.', unit: 'model calls', defaultText: 'no limit' }),
        ...amounts,
        wallTime: positive.optional().meta({
          description: 'Time that its turns were open together, waits for people not counted; what runs then is ended.',
          unit: 'seconds',
          defaultText: 'no limit',
        }),
        idleTime: positive.optional().meta({
          description:
            'Time without an answer of the model before a turn: what rested for longer is not continued unless somebody says so.',
          unit: 'seconds',
          defaultText: 'no limit',
        }),
      })
      .optional()
      .meta({ description: 'Hard limits of all turns of a conversation together.' }),
    repeatedCalls: positive.optional().meta({
      description:
        'Times that one tool call may have the same result while no call has a new one; then the turn ends as `budget_exhausted`. Raise it for an agent that waits by asking again.',
      unit: 'tool calls',
      defaultText: `${DEFAULT_AGENT.limits.repeatedCalls}`,
    }),
    compactionsWithoutProgress: positive.optional().meta({
      description:
        'Compactions in a row between which no tool call had a new result; then the turn ends as `budget_exhausted`: what the task needs at once does not fit the window. One between which the agent only looked things up with the recall tools counts half.',
      unit: 'compactions',
      defaultText: `${DEFAULT_AGENT.limits.compactionsWithoutProgress}`,
    }),
    continuations: positive.optional().meta({
      description:
        'Answers in a row that are cut at the maximum output and continued automatically, with no new tool result between them.',
      unit: 'answers',
      defaultText: `${DEFAULT_AGENT.limits.continuations}`,
    }),
  })
  .optional()
  .meta({
    description:
      'Hard limits of one turn: at one it ends as `budget_exhausted`, and `holdfast resume` with a raise of it goes on.',
  });
