import type { BranchMethods } from './branch-methods.ts';
import type { ConversationMethods } from './conversation-methods.ts';
import type { DecisionMethods } from './decision-methods.ts';
import type { Holdfast } from './holdfast.ts';
import type { LogMethods } from './log-methods.ts';
import type { MemoryMethods } from './memory-methods.ts';
import type { ModelMethods } from './model-methods.ts';
import type { WebhookMethods } from './webhook-methods.ts';

/**
 * What a client can do, connected to the database or to a server. Only beside the database: what is an operator's, such as
 * `memory.reindex` and `keys`. A server imports for an agent of its configuration: of what `conversation.import` takes, `agent` and `user`.
 */
export interface HoldfastClient extends Pick<Holdfast, 'start' | 'open' | 'close'> {
  readonly conversation: Pick<ConversationMethods, keyof ConversationMethods>;
  readonly branches: Pick<BranchMethods, keyof BranchMethods>;
  readonly log: Pick<LogMethods, keyof LogMethods>;
  readonly memory: Omit<MemoryMethods, 'reindex'>;
  readonly decisions: Pick<DecisionMethods, keyof DecisionMethods>;
  readonly models: Pick<ModelMethods, 'costs' | 'listServed' | 'listPauses'>;
  readonly webhooks: Pick<WebhookMethods, keyof WebhookMethods>;
}
