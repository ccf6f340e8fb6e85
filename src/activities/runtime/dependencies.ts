import type { Logger } from 'pino';
import type { Reducers } from '../../context/plan/reducers/reducer.ts';
import type { BeforeCompaction } from '../../context/policy/compaction-hook.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { ModelClient } from '../../models/model-client.ts';
import type { Database } from '../../store/database/database.ts';
import type { TextEmbedder } from '../../store/search/embedder.ts';
import type { ToolRegistry } from '../../tools/runtime/registry.ts';
import type { ModelPermits } from './model-permits.ts';
import type { ReachCrashPoint } from './crash-points.ts';
import type { FenceWatch } from './fence-watch.ts';
import type { IsWorkflowOpen } from './activity.ts';
import type { OutlastingWork } from './outlasting-work.ts';

/** What a conversation may set instead of its agent's own. */
export interface ConversationSettings {
  readonly model: string | null;
  readonly preset: string | null;
  /** Absolute path. */
  readonly workspace: string | null;
  /** Whose memories of scope `user` it is shown and writes. */
  readonly user: string | null;
}

/** Everything that activities need of the world. No activity reads the environment or keeps globals. */
export interface ActivityDependencies {
  readonly database: Database;
  /** For live text only; notifications must not share a connection with writing transactions. */
  readonly liveDatabase: Database;
  readonly tools: ToolRegistry;
  /** Names of the configured providers. */
  readonly providers: readonly string[];
  readonly modelClient: (provider: string) => ModelClient;
  /** Asked before every call of a model. */
  readonly modelPermits: ModelPermits;
  readonly learnedWindows: {
    /** Base address of a provider's server, without credentials. */
    readonly serverOf: (provider: string) => string;
    /** Days for which a window that an error named is believed. */
    readonly forgetAfterDays: number;
  };
  /** Search by meaning beside search by words; `null`: words alone. */
  readonly embedder: TextEmbedder | null;
  /** Freezes an agent's configuration for a turn. @throws ConfigurationError for an unknown agent, model or preset. */
  readonly snapshotFor: (agent: string, settings: ConversationSettings) => Promise<AgentSnapshot>;
  /** All reducers that policies may name. */
  readonly reducers: Reducers;
  /** Asked in order before a compaction that writes a summary. */
  readonly beforeCompaction: readonly BeforeCompaction[];
  /** Provider keys, masked in everything that tools return. */
  readonly secrets: readonly string[];
  /** Absolute paths that file tools keep away from. */
  readonly protectedPaths: readonly string[];
  /** Reads keys that are due to be read again, so that a tool's output is masked with those of today. Never fails. */
  readonly readKeys: () => Promise<void>;
  readonly logger: Logger;
  readonly reachCrashPoint: ReachCrashPoint;
  /** Aborts work of this worker that a newer turn or attempt took over. */
  readonly fenceWatch: FenceWatch;
  /** Stores what this worker has at hand also after Temporal gave its activity up. */
  readonly outlastingWork: OutlastingWork;
  /** Shown in claims and in Temporal. */
  readonly workerIdentity: string;
  /** Says that this worker works on a conversation, so that another one goes on when it dies. */
  readonly worksOn: (conversationId: string) => {
    /** Resolves when the others can know it; `null`: they do. */
    readonly told: Promise<void> | null;
    /** To be called when the work is over. */
    readonly done: () => void;
  };
  /** Temporal's id of the newest run of a workflow, open or closed; `null`: Temporal does not know the workflow. */
  readonly newestRunOf: (workflowId: string) => Promise<string | null>;
  /** Whether Temporal has an open workflow with this id, or has this run of it open. */
  readonly isWorkflowOpen: IsWorkflowOpen;
}
