/** What applications import: a client, a worker with tools and agents of one's own, and the types they speak. */
export { createClient } from './client/create-client.ts';
export type { ClientOptions } from './client/create-client.ts';
export { HoldfastClientError } from './client/errors.ts';
export type { ClientErrorCode } from './client/errors.ts';
export type {
  ChangedEntry,
  CompactionLineage,
  ContextReport,
  CoveredEntry,
  ModelCallAddress,
  PastCall,
  PastView,
  Conversation,
  EndedTurn,
  HoldfastClient,
  ListedEntry,
  LateResult,
  LiveTextUpdate,
  MessageContent,
  Page,
  SendMessageOptions,
  SentMessage,
  StartTaskOptions,
  StoredSummary,
  TimelineEvent,
  ServedCommand,
  TurnSummary,
  WatchOptions,
  WatchUpdate,
} from './client/types.ts';
export type {
  ApprovalOptions,
  DecisionOptions,
  SentDecision,
  StandingApproval,
  WaitingCall,
} from './client/decision-types.ts';
export type { ConversationArchive, ImportedConversation, OpenedEntry, WorkflowRun } from './client/archive-types.ts';
export type { Branch, BranchCommands } from './client/branch-types.ts';
export type { FoundPassage, MemorySearch } from './client/memory-types.ts';
export { createEmbeddingClient } from './models/embedder.ts';
export type { EmbeddingClient } from './models/embedder.ts';
export { defineAgent } from './config/define-agent.ts';
export type { AgentInput } from './config/define-agent.ts';
export type { DefinedAgent } from './config/definitions.ts';
export { PRESETS as presets } from './config/presets.ts';
export { ConfigurationError } from './config/errors.ts';
export type {
  BeforeCompaction,
  CompactionDecision,
  CompactionPreparation,
  HookLimits,
} from './context/policy/compaction-hook.ts';
export type { ContentPart } from './context/log/content.ts';
export type { CompactionPolicy } from './context/policy/policy.ts';
export type { CostGroup, CostRow } from './store/conversations/costs.ts';
export { StackError } from './local/stack-error.ts';
export type { StackErrorCode } from './local/stack-error.ts';
export type { EventDataByKind, EventKind } from './store/log/timeline.ts';
export { StoreError } from './store/database/errors.ts';
export type { LearnedWindow, ServedModel } from './store/providers/model-facts.ts';
export type { ProviderPause } from './store/providers/provider-pauses.ts';
export { defineTool } from './tools/define-tool.ts';
export { ToolDefinitionError, ToolError } from './tools/errors.ts';
export type { ToolContext, ToolDefinition, ToolEffect, ToolResult } from './tools/tool.ts';
export type { TurnOutcome } from './turn/turn-reference.ts';
export { createWorker } from './worker/create-worker.ts';
export type { CreateWorkerOptions } from './worker/create-worker.ts';
export type { RunningWorker } from './worker/start-worker.ts';
