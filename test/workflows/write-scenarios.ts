import type { CrashPoint } from '../../src/activities/runtime/crash-points.ts';
import type { SentMessage } from '../../src/client/types.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import type { HarnessOptions, TurnHarness } from '../support/turn-harness.ts';

/** One worker dies here; what is to happen while no worker runs comes before. */
interface Death {
  readonly at: CrashPoint;
  readonly before?: (harness: TurnHarness, sent: SentMessage) => Promise<unknown>;
}

export interface Scenario {
  readonly name: string;
  /** Of the workers that die; one call at a time: calls queue for the provider. */
  readonly options: Pick<HarnessOptions, 'agent' | 'providerLimits' | 'tools' | 'beforeCompaction'>;
  readonly task: string;
  readonly deaths: readonly Death[];
  /** What its turn comes to. Default: `completed`. */
  readonly end?: { readonly outcome: string; readonly reason?: string; readonly steps?: number };
  /** Prepares the same task once more, with a worker that does not die: the entries must be the same. */
  readonly undisturbed?: (harness: TurnHarness) => Promise<unknown>;
}

/** Calls queue for the provider. */
const QUEUES = { providerLimits: { concurrentCalls: 1 } };

export const READ = 'Call read_file with {"path": "log-$index.txt"}';

const fault = (each: Record<string, unknown>) => (harness: TurnHarness) => harness.fault(each);

/** Turns what is planned into a plan of the weakest form that wins nothing, which no planning would make. */
async function makePlansUseless({ database }: TurnHarness): Promise<void> {
  await database.begin(async (sql) => {
    await sql`set local role none`;
    await sql`set local session_replication_role = replica`;
    await sql`delete from compaction_parts`;
    await sql`
      update compactions set form = 'clip_only', tokens_before = 1, plan = (plan::jsonb || '{"form": "clip_only", "parts": [], "operations": []}')::json
      where status = 'planned'`;
  });
}

/** The first model is gone, and those that follow it turn out to be smaller than what may not be left out. */
async function shrinkFallbacks(harness: TurnHarness): Promise<void> {
  await harness.fault({ kind: 'status', status: 404, times: null, match: { model: 'sim-32k' } });
  await harness.fault({ kind: 'overflow', limit: 4_000, times: 2, match: { model: 'sim-16k' } });
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
const forkAtStart = ({ client }: TurnHarness, { conversationId }: SentMessage) =>
  client.branches.fork({ conversationId, entryId: null });

/** What the scenarios of the presets leave out: `DEATHS` in `presets/scenario.ts`. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'messages and runs of a turn',
    options: { agent: { model: 'simulator/sim-32k', limits: { toolCalls: 12 } } },
    task: `${READ} 20 times, one by one`,
    deaths: [
      // What was sent before a turn begins is taken as it begins.
      { at: 'beginTurn:written' },
      {
        at: 'compactContext:messages-taken',
        before: ({ client }, { conversationId }) =>
          client.conversation.send({ conversationId, content: 'Go on like this.' }),
      },
      { at: 'continueTurn:written' },
      { at: 'compactContext:limit-noted' },
    ],
    end: { outcome: 'budget_exhausted', reason: 'tool_call_limit', steps: 12 },
  },
  {
    name: 'R31 a compaction',
    options: {
      ...QUEUES,
      agent: { model: 'simulator/sim-16k', preset: 'cowork', memory: true, limits: { steps: 60, noteAt: 0.05 } },
    },
    task: `${READ} 22 times, one by one`,
    deaths: [
      { at: 'summarize:queued' },
      {
        at: 'summarize:withdrawn',
        before: fault({ kind: 'rate_limit', retryAfterSeconds: 11, match: { purpose: 'summary' } }),
      },
      {
        at: 'summarize:waiting',
        before: fault({ kind: 'rate_limit', retryAfterSeconds: 11, match: { purpose: 'summary' } }),
      },
      { at: 'commitCompaction:noted', before: rememberPumps },
      { at: 'commitCompaction:limit-noted' },
    ],
  },
  {
    name: 'a compaction whose forms fail',
    options: { agent: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } } },
    task: `${READ} 5 times, one by one`,
    deaths: [
      { at: 'summarize:failed', before: fault({ kind: 'summary_empty', times: 1 }) },
      {
        at: 'commitCompaction:replanned',
        before: fault({ kind: 'status', status: 400, times: 1, match: { purpose: 'summary' } }),
      },
    ],
  },
  {
    name: 'failures of the model',
    options: { ...QUEUES, agent: { model: 'simulator/sim-32k', fallbacks: ['simulator/sim-64k'] } },
    task: `${READ} 4 times, one by one\nWrite 60 words`,
    deaths: [
      { at: 'callModel:queued' },
      { at: 'callModel:failed', before: fault({ kind: 'rate_limit', retryAfterSeconds: 11 }) },
      { at: 'callModel:registered' },
      { at: 'callModel:waiting', before: fault({ kind: 'rate_limit', retryAfterSeconds: 11 }) },
      { at: 'callModel:window-learned', before: fault({ kind: 'overflow', limit: 20_000, skip: 2 }) },
      {
        at: 'callModel:fell-back',
        before: fault({ kind: 'status', status: 404, match: { model: 'sim-32k', purpose: 'agent' } }),
      },
    ],
  },
  {
    name: 'answers that are cut',
    options: { agent: { model: 'simulator/sim-32k' } },
    task: 'Write 60 words',
    deaths: [
      { at: 'callModel:stored', before: fault({ kind: 'cut_answer', times: 3 }) },
      { at: 'callModel:calibrated' },
      { at: 'callModel:noted' },
    ],
    undisturbed: fault({ kind: 'cut_answer', times: 3 }),
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
      'Call run_command with {"command": "seq 60000"}',
      'Call run_command with {"command": "echo begun; sleep 3; echo done"}',
      'Call remember with {"text": "The journal is journal.txt."}',
      'Call write_file with {"path": "a.txt", "content": "a"}',
    ].join('\n'),
    deaths: [
      { at: 'runTool:finished' },
      { at: 'runTool:outcome-unknown' },
      { at: 'runTool:pieces-written' },
      { at: 'runTool:output-kept' },
      { at: 'runTool:memory-written' },
      { at: 'requestDecisions:written' },
      { at: 'runTool:decided', before: ({ client }, { conversationId }) => client.decisions.deny({ conversationId }) },
      {
        at: 'compactContext:declined',
        before: ({ client }, { conversationId }) => client.conversation.compact({ conversationId }),
      },
    ],
  },
  {
    name: 'changes of branch',
    options: { ...QUEUES, agent: { model: 'simulator/sim-32k' } },
    task: 'Say one',
    deaths: [
      { at: 'endTurn:written' },
      {
        at: 'changeBranch:queued',
        before: async (harness, sent) => {
          await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 11, times: 2, match: { purpose: 'summary' } });
          await forkAtStart(harness, sent);
        },
      },
      { at: 'changeBranch:withdrawn' },
      { at: 'changeBranch:waiting' },
      { at: 'changeBranch:registered' },
      {
        at: 'changeBranch:failed',
        before: fault({ kind: 'status', status: 500, match: { purpose: 'summary' } }),
      },
      { at: 'changeBranch:answered' },
      { at: 'changeBranch:written' },
      { at: 'endTurn:written' },
      {
        at: 'changeBranch:refused',
        before: async (harness, sent) => {
          await forkAtStart(harness, sent);
          // As if a turn had begun behind it.
          await harness.database`update messages set sent_epoch = 0 where consumed_at is null`;
        },
      },
    ],
  },
  {
    name: 'a hook that cancels',
    options: {
      agent: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } },
      beforeCompaction: [() => ({ cancel: true })],
    },
    task: `${READ} 12 times, one by one`,
    deaths: [
      { at: 'askHooks:cancelled' },
      {
        at: 'askHooks:declined',
        before: ({ client }, { conversationId }) => client.conversation.compact({ conversationId }),
      },
    ],
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
    deaths: [{ at: 'askHooks:skipped' }, { at: 'askHooks:planned' }],
  },
  {
    name: 'a compaction of which no form helps',
    options: { agent: { model: 'simulator/sim-8k' } },
    task: `${READ} 7 times, one by one`,
    deaths: [{ at: 'compactContext:planned' }, { at: 'commitCompaction:ended', before: makePlansUseless }],
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
    deaths: [{ at: 'compactContext:fell-back', before: shrinkFallbacks }, { at: 'compactContext:exhausted' }],
    end: { outcome: 'context_exhausted' },
  },
];
