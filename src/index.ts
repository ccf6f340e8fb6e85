/** What applications import: a client, a worker with tools and agents of one's own, and the types they speak. */
export { connect } from './client/connect.ts';
export type { ConnectOptions } from './client/connect.ts';
export { HoldfastClientError } from './client/errors.ts';
export type { ClientErrorCode } from './client/errors.ts';
export { Holdfast } from './client/holdfast.ts';
export type { HoldfastClient, StartOptions } from './client/holdfast.ts';
export type { RemoteOptions } from './client/remote/remote.ts';
export type { OpenConversation, Task } from './client/task.ts';
export type { GivenForm } from './client/answer-form.ts';
export type { ConversationChoices, MessageContent, MessagePart, OfConversation, ToSend } from './client/arguments.ts';
export type {
  ApprovalOptions,
  ContextReport,
  Conversation,
  DecidedCall,
  DecisionOptions,
  EndedTurn,
  FoundPassage,
  ImportedConversation,
  LateResult,
  ListedEntry,
  LiveTextUpdate,
  MemorySearch,
  ModelCallAddress,
  OpenedEntry,
  PastCall,
  PastView,
  Reindexed,
  ReindexOptions,
  ReindexProgress,
  SentDecision,
  SentMessage,
  ServedCommand,
  StandingApproval,
  StoredSummary,
  SummaryDifference,
  SummaryAudit,
  TimelineEvent,
  TurnSummary,
  WaitingCall,
  WaitingCallOfTenant,
  WatchOptions,
  WatchUpdate,
  WorkflowRun,
} from './client/types.ts';
export type { Page } from './client/page.ts';
export { verifyWebhook } from './client/verify-webhook.ts';
export type { ReceivedWebhook } from './client/verify-webhook.ts';
export { createEmbeddingClient } from './models/embedder.ts';
export type { EmbeddingClient } from './models/embedder.ts';
export { defineAgent } from './config/define-agent.ts';
export type { AgentInput } from './config/define-agent.ts';
export type { DefinedAgent } from './config/definitions.ts';
export { PRESETS as presets } from './config/presets.ts';
export { ConfigurationError } from './config/errors.ts';
export type { ConfigurationProblem } from './config/errors.ts';
export type {
  BeforeCompaction,
  CompactionDecision,
  CompactionPreparation,
  HookLimits,
} from './context/policy/compaction-hook.ts';
export type {
  Citation,
  ContentPart,
  FilePart,
  ImagePart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
} from './context/log/content.ts';
export type { CompactionForm, CompactionReason, WindowBreakdown, WindowFill } from './context/plan/plan.ts';
export type { ChangedEntry, CompactionLineage, CoveredEntry } from './store/compactions/summaries.ts';
export type { BranchRow as Branch } from './store/conversations/branches.ts';
export type { CompactionPolicy, CompactionPolicyInput } from './context/policy/policy.ts';
export { clear, clip, defineReducer, strip } from './context/plan/reducers/define-reducer.ts';
export type { Change, ReducerInput, ReducibleEntry } from './context/plan/reducers/define-reducer.ts';
export type { Reducer } from './context/plan/reducers/built-in.ts';
export type { CostGroup, CostRow } from './store/conversations/costs.ts';
export { StackError } from './local/stack-error.ts';
export type { StackErrorCode } from './local/stack-error.ts';
export type { EventDataByKind, EventKind } from './store/log/timeline.ts';
export { StoreError } from './store/database/errors.ts';
export type { ApiKey } from './store/conversations/api-keys.ts';
export type { FailedDelivery, Webhook } from './store/conversations/webhooks.ts';
export type { ConversationState } from './store/conversations/conversations.ts';
export type { StoredMemory } from './store/memory/memories.ts';
export type { LearnedWindow, ServedModel } from './store/providers/model-facts.ts';
export type { ProviderPause } from './store/providers/provider-pauses.ts';
export { defineTool } from './tools/define-tool.ts';
export { ToolDefinitionError, ToolError } from './tools/errors.ts';
export type { ToolErrorCode } from './tools/errors.ts';
export type { OutputSink, ToolContext, ToolDefinition, ToolEffect, ToolResult } from './tools/tool.ts';
export type { TemporalAddress } from './temporal/profile.ts';
export type { ConversationCounts } from './turn/spending.ts';
export type { TurnOutcome } from './turn/turn-reference.ts';
export { createWorker } from './worker/create-worker.ts';
export type { CreateWorkerOptions } from './worker/create-worker.ts';
export type { RunningWorker } from './worker/start-worker.ts';
