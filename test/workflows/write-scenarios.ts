import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SentMessage } from '../../src/client/types.ts';
import { newId } from '../../src/store/database/ids.ts';
import { makePlansUseless } from '../store/support/compaction-builders.ts';
import { insertMemory } from '../support/insert-memory.ts';
import type { HarnessOptions, TurnHarness } from '../support/turn-harness.ts';

export interface Scenario {
  readonly name: string;
  /** Of the workers that die; one call at a time: calls queue for the provider. */
  readonly options: Pick<HarnessOptions, 'agent' | 'providerLimits' | 'tools' | 'beforeCompaction'>;
  /** Continues as new every few steps. */
  readonly hasShortHistory?: true;
  readonly task: string;
  /** What happens before the first worker starts. */
  readonly before?: (harness: TurnHarness) => Promise<unknown>;
  /** What happens while no worker runs, once, after the first death of a kind. */
  readonly between?: readonly (readonly [
    kind: RegExp,
    act: (harness: TurnHarness, sent: SentMessage) => Promise<unknown>,
  ])[];
  /** Kinds of the commits that the scenario is for. */
  readonly reaches: readonly RegExp[];
  /** What its turn comes to. Default: `completed`. */
  readonly end?: { readonly outcome: string; readonly reason?: string; readonly steps?: number };
  /** Prepares the same task once more, with a worker that does not die: the entries must be the same. */
  readonly undisturbed?: (harness: TurnHarness) => Promise<unknown>;
}

/** What a command that still runs has written so far. */
const PARTIAL_OUTPUT = /^runTool: update tool_calls$/u;

/** Calls queue for the provider. */
const QUEUES = { providerLimits: { concurrentCalls: 1 } };

export const READ = 'Call read_file with {"path": "log-$index.txt"}';

const fault = (each: Record<string, unknown>) => (harness: TurnHarness) => harness.fault(each);

/** The first model is gone, and those that follow it turn out to be smaller than what may not be left out. */
async function shrinkFallbacks(harness: TurnHarness): Promise<void> {
  await harness.fault({ kind: 'status', status: 404, times: null, match: { model: 'sim-32k' } });
  await harness.fault({ kind: 'overflow', limit: 4_000, times: null, match: { model: 'sim-16k' } });
}

/** Has to do with what is read, and comes after the turn began. */
async function rememberPumps({ database, workspace }: TurnHarness): Promise<void> {
  await insertMemory(database, {
    id: newId(),
    scope: 'workspace',
    scopeName: workspace,
    kind: 'fact',
    text: 'Each log is read with read_file, one by one.',
    origin: 'user',
  });
}

/** The turn of the task has ended: a fork is accepted. */
const fork = ({ client }: TurnHarness, { conversationId }: SentMessage) =>
  client.branches.fork({ conversationId, entryId: null });

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'messages and runs of a turn',
    options: { agent: { model: 'simulator/sim-32k', limits: { toolCalls: 5 } } },
    hasShortHistory: true,
    task: `${READ} 6 times, one by one`,
    between: [
      // What was sent before a turn begins is taken as it begins.
      [
        /^beginTurn/u,
        ({ client }, { conversationId }) => client.conversation.send({ conversationId, content: 'Go on like this.' }),
      ],
    ],
    reaches: [
      /^beginTurn/u,
      /^continueTurn/u,
      /^compactContext: insert entries, insert events, update messages/u,
      /^compactContext: insert entries, insert events$/u,
    ],
    end: { outcome: 'budget_exhausted', reason: 'tool_call_limit', steps: 5 },
  },
  {
    name: 'R31 a compaction',
    options: {
      ...QUEUES,
      agent: { model: 'simulator/sim-16k', preset: 'cowork', memory: true, limits: { steps: 60, noteAt: 0.05 } },
    },
    task: `${READ} 14 times, one by one`,
    // Twice: the pause of the first may be over when the next worker asks.
    before: fault({ kind: 'rate_limit', retryAfterSeconds: 11, times: 2, match: { purpose: 'summary' } }),
    between: [[/^summarize/u, rememberPumps]],
    reaches: [
      /^compactContext.*insert compactions/u,
      /^summarize.*insert provider_calls/u,
      /^summarize.*insert provider_pauses/u,
      /^summarize: insert events$/u,
      /^summarize: answered/u,
      /^summarize.*update compaction_parts/u,
      /^commitCompaction.*insert entries.*update compactions/u,
      /^commitCompaction: logged/u,
    ],
  },
  {
    name: 'a compaction whose forms fail',
    options: { agent: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } } },
    task: `${READ} 5 times, one by one`,
    before: async (harness) => {
      // Each is lost with a worker before one counts: the empty one once, the refused one twice.
      await harness.fault({ kind: 'summary_empty', times: 2 });
      await harness.fault({ kind: 'status', status: 400, times: 3, match: { purpose: 'summary' } });
    },
    reaches: [/^summarize: insert events, update compaction_parts/u, /^commitCompaction.*insert compactions/u],
  },
  {
    name: 'failures of the model',
    options: { ...QUEUES, agent: { model: 'simulator/sim-32k', fallbacks: ['simulator/sim-64k'] } },
    task: `${READ} 4 times, one by one\nWrite 60 words`,
    // Twice: the first may be lost with a worker.
    before: fault({ kind: 'rate_limit', retryAfterSeconds: 11, times: 2 }),
    between: [
      [/^runTool/u, fault({ kind: 'overflow', limit: 20_000, skip: 1 })],
      [
        /^callModel.*model_facts/u,
        fault({ kind: 'status', status: 404, match: { model: 'sim-32k', purpose: 'agent' } }),
      ],
    ],
    reaches: [
      /^callModel.*insert provider_pauses/u,
      /^callModel: insert events$/u,
      /^callModel: insert model_facts/u,
      /^callModel: insert events, update turns/u,
    ],
  },
  {
    name: 'answers that are cut',
    options: { agent: { model: 'simulator/sim-32k' } },
    task: 'Write 60 words',
    // The first one is lost with its worker.
    before: fault({ kind: 'cut_answer', times: 3 }),
    reaches: [
      /^callModel: answered/u,
      /^callModel: insert entries, insert events$/u,
      /^callModel: insert model_facts/u,
    ],
    undisturbed: fault({ kind: 'cut_answer', times: 2 }),
  },
  {
    name: 'commands of a tool',
    options: {
      agent: {
        model: 'simulator/sim-32k',
        allowCommands: true,
        memory: true,
        tools: ['run_command', 'write_file', 'remember'],
        approvals: { rules: ['write_file'] },
        // Nothing of so short a conversation lies outside the tail: what is asked to be compacted is declined.
        policy: { keep: { tail: { fraction: 1, of: 'input_budget' } } },
      },
    },
    task: [
      'Call run_command with {"command": "echo ran >> journal.txt"}',
      'Call run_command with {"command": "echo ran again >> journal.txt"}',
      'Call run_command with {"command": "seq 60000"}',
      'Call run_command with {"command": "echo begun; until [ -e noted ]; do sleep 0.1; done; echo done"}',
      'Call remember with {"text": "The journal is journal.txt."}',
      'Call write_file with {"path": "a.txt", "content": "a"}',
    ].join('\n'),
    between: [
      [PARTIAL_OUTPUT, ({ workspace }) => writeFile(join(workspace, 'noted'), '')],
      [
        /^requestDecisions/u,
        async ({ client }, { conversationId }) => {
          await client.conversation.compact({ conversationId });
          await client.decisions.deny({ conversationId });
        },
      ],
    ],
    reaches: [
      /^runTool: finished/u,
      /^runTool: insert contents/u,
      /^runTool.*insert memories/u,
      /^runTool: insert events, update tool_calls/u,
      PARTIAL_OUTPUT,
      /^requestDecisions/u,
      /^compactContext: insert events, update messages/u,
    ],
  },
  {
    name: 'changes of branch',
    options: { ...QUEUES, agent: { model: 'simulator/sim-32k' } },
    task: 'Say one',
    between: [
      [
        /^endTurn/u,
        async (harness, sent) => {
          // Twice: the first may be lost with a worker.
          await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 11, times: 2, match: { purpose: 'summary' } });
          await harness.fault({ kind: 'status', status: 500, match: { purpose: 'summary' } });
          await fork(harness, sent);
        },
      ],
    ],
    reaches: [
      /^changeBranch.*insert compactions/u,
      /^summarize.*insert provider_pauses/u,
      /^summarize: insert model_attempts/u,
      /^summarize: answered/u,
      /^summarize.*update compaction_parts/u,
      /^changeBranch.*update conversations/u,
    ],
  },
  {
    name: 'a change of branch that comes too late',
    options: { agent: { model: 'simulator/sim-32k' } },
    task: 'Say one',
    between: [
      [
        /^endTurn/u,
        async (harness, sent) => {
          await fork(harness, sent);
          // As if a turn had begun behind it.
          await harness.database`update messages set sent_epoch = 0 where consumed_at is null`;
        },
      ],
    ],
    reaches: [/^changeBranch.*update messages/u],
  },
  {
    name: 'a hook that cancels',
    options: {
      agent: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } },
      beforeCompaction: [() => ({ cancel: true })],
    },
    task: `${READ} 12 times, one by one`,
    between: [
      [/^askHooks.*events/u, ({ client }, { conversationId }) => client.conversation.compact({ conversationId })],
    ],
    reaches: [/^askHooks: insert events$/u, /^askHooks: insert events, update messages/u],
    end: { outcome: 'context_exhausted' },
  },
  {
    name: 'a hook that fails',
    options: {
      agent: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } },
      beforeCompaction: [
        () => {
          throw new TypeError('broken');
        },
      ],
    },
    task: `${READ} 5 times, one by one`,
    reaches: [/^askHooks: insert events$/u, /^askHooks.*insert compactions/u],
  },
  {
    name: 'a compaction of which no form helps',
    options: { agent: { model: 'simulator/sim-8k' } },
    task: `${READ} 7 times, one by one`,
    between: [[/^compactContext.*compactions/u, ({ database }) => makePlansUseless(database)]],
    reaches: [/^commitCompaction: insert events, update compactions/u],
  },
  {
    name: 'a request that nothing makes small enough',
    options: {
      agent: {
        model: 'simulator/sim-32k',
        fallbacks: ['simulator/sim-16k', 'simulator-chat/sim-16k'],
        instructions: 'A sentence that may not be left out. '.repeat(800),
      },
    },
    task: 'Say it fits',
    before: shrinkFallbacks,
    reaches: [
      /^callModel: insert model_facts/u,
      /^compactContext: insert events, update turns/u,
      /^compactContext: insert events$/u,
    ],
    end: { outcome: 'context_exhausted' },
  },
];
