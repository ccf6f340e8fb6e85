/** Options of `holdfast.yaml` that bound what turns and workers use. */
import { z } from 'zod';
import { DEFAULT_NOTE_AT } from '../../turn/spending.ts';
import { DEFAULT_AGENT } from '../default-agent.ts';

const positive = z.number().int().positive();

const amounts = {
  toolCalls: positive.optional().meta({ description: 'Tool calls.', unit: 'tool calls', defaultText: 'no limit' }),
  inputTokens: positive.optional().meta({
    description: 'Input tokens of all model calls, with cached tokens, summaries and repeated calls.',
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
        'Input tokens of all calls that begin within a minute, over all workers. They are estimated first, and corrected when the provider reports them.',
      unit: 'tokens',
      defaultText: 'no limit',
    }),
  })
  .optional()
  .meta({
    description: 'What all calls with one key may ask of the provider. Conversations get their permits in turn.',
  });

/** `agents.<name>.limits`. */
export const turnLimits = z
  .strictObject({
    steps: positive.optional().meta({
      description: 'Answers of the model.',
      unit: 'model calls',
      defaultText: `${DEFAULT_AGENT.limits.steps}`,
    }),
    ...amounts,
    wallTime: positive.optional().meta({
      description: 'Time since the turn began, without waits for people. Running work is ended.',
      unit: 'seconds',
      defaultText: 'no limit',
    }),
    idleTime: positive.optional().meta({
      description:
        'Time without an answer of a model, a tool result, a message or a decision, without waits for people. Running work is ended.',
      unit: 'seconds',
      defaultText: 'no limit',
    }),
    noteAt: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({
        description:
          'Part of a limit at which a note tells the model what it has used. One note a turn and limit, and one more after a compaction.',
        unit: '0 to 1',
        defaultText: `${DEFAULT_NOTE_AT}`,
      }),
    conversation: z
      .strictObject({
        steps: positive
          .optional()
          .meta({ description: 'Answers of the model.', unit: 'model calls', defaultText: 'no limit' }),
        ...amounts,
        wallTime: positive.optional().meta({
          description: 'Time that all its turns were open, without waits for people. Running work is ended.',
          unit: 'seconds',
          defaultText: 'no limit',
        }),
        idleTime: positive.optional().meta({
          description: 'Longest rest between two turns. After a longer rest only `holdfast resume` goes on.',
          unit: 'seconds',
          defaultText: 'no limit',
        }),
      })
      .optional()
      .meta({ description: 'Hard limits of all turns of a conversation.' }),
    repeatedCalls: positive.optional().meta({
      description:
        'Equal results of one call that end the turn, unless another call returned something new in between. Raise it for an agent that polls.',
      unit: 'tool calls',
      defaultText: `${DEFAULT_AGENT.limits.repeatedCalls}`,
    }),
    compactionsWithoutProgress: positive.optional().meta({
      description:
        'Compactions in a row without a new tool result between them. More of them mean that the task does not fit the window. A compaction after nothing but calls of the recall tools counts one half.',
      unit: 'compactions',
      defaultText: `${DEFAULT_AGENT.limits.compactionsWithoutProgress}`,
    }),
    continuations: positive.optional().meta({
      description:
        'Answers in a row that are cut at the maximum output and continued, without a new tool result between them. After the last one the turn ends as `completed` with the reason `answer_cut`.',
      unit: 'answers',
      defaultText: `${DEFAULT_AGENT.limits.continuations}`,
    }),
  })
  .optional()
  .meta({
    description:
      'Hard limits of one turn. At a limit the turn ends as `budget_exhausted`. `holdfast resume` raises the limit and goes on.',
  });
