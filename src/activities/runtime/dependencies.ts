import type { Logger } from 'pino';
import type { Reducers } from '../../context/plan/reducers/built-in.ts';
import type { BeforeCompaction } from '../../context/policy/compaction-hook.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { WorkerNeed } from '../../turn/limits.ts';
import type { ModelClient } from '../../models/model-client.ts';
import type { Database } from '../../store/database/database.ts';
import type { TextEmbedder } from '../../store/search/find-by-meaning.ts';
import type { ToolRegistry } from '../../tools/runtime/registry.ts';
import type { ModelPermits } from './model-permits.ts';
import type { ReachCrashPoint } from './crash-points.ts';
import type { FenceWatch } from './fence-watch.ts';
import type { ConversationSettings } from '../../store/messages/messages.ts';
import type { IsWorkflowOpen, OutlastingWork } from './outlasting-work.ts';

/** All that activities need from outside. No activity reads the environment or keeps globals. */
export interface ActivityDependencies {
  readonly database: Database;
  /** For live text only, because notifications must not share a connection with writing transactions. */
  readonly liveDatabase: Database;
  readonly tools: ToolRegistry;
  /** Names of the configured providers. */
  readonly providers: readonly string[];
  readonly modelClient: (provider: string) => ModelClient;
  /** Permits, acquired before every model call. */
  readonly modelPermits: ModelPermits;
  /** Base address of a provider's server, without credentials. */
  readonly serverOf: (provider: string) => string;
  /** Search by meaning beside search by words; `null`: words alone. */
  readonly embedder: TextEmbedder | null;
  /** Freezes an agent's configuration for a turn. @throws ConfigurationError for an unknown agent, model or preset. */
  readonly snapshotFor: (
    agent: string,
    settings: ConversationSettings,
    conversationId: string,
  ) => Promise<AgentSnapshot>;
  /** All reducers, built-in ones included. */
  readonly reducers: Reducers;
  /** Hooks in the order in which they run. */
  readonly beforeCompaction: readonly BeforeCompaction[];
  /** Provider keys, masked in all results of tools. */
  readonly secrets: readonly string[];
  /** Absolute paths that file tools refuse. */
  readonly protectedPaths: readonly string[];
  /** Reads keys again that are due, so that a tool's output is masked with current keys. Never fails. */
  readonly readKeys: () => Promise<void>;
  readonly logger: Logger;
  readonly reachCrashPoint: ReachCrashPoint;
  /** Aborts work that a newer turn or attempt took over. */
  readonly fenceWatch: FenceWatch;
  /** Stores finished work even after Temporal gave its activity up. */
  readonly outlastingWork: OutlastingWork;
  /** Shown in claims and in Temporal. */
  readonly workerIdentity: string;
  /** Marks that this worker works on a conversation, so that another one goes on if it dies. */
  readonly worksOn: (conversationId: string) => () => void;
  /** Whether a living worker of the queue has announced that it can run this; `null`: unknown. */
  readonly isServed: (need: WorkerNeed) => Promise<boolean | null>;
  /** Temporal's id of the newest run of a workflow, open or closed; `null` if Temporal does not know the workflow. */
  readonly newestRunOf: (workflowId: string) => Promise<string | null>;
  /** Whether Temporal has this workflow open, or this run of it. */
  readonly isWorkflowOpen: IsWorkflowOpen;
}
