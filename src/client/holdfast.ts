import { definedOf } from '../context/policy/defined-of.ts';
import { ENDPOINTS } from './api/endpoints.ts';
import { givenForm, schemaOf } from './answer-form.ts';
import type { GivenForm } from './answer-form.ts';
import { conversationChoices, uuid } from './arguments.ts';
import type { ConversationChoices, MessageContent } from './arguments.ts';
import { BranchMethods } from './branch-methods.ts';
import type { ClientContext } from './client-context.ts';
import { CONVERSATION_SHAPES, ConversationMethods } from './conversation-methods.ts';
import { DecisionMethods } from './decision-methods.ts';
import { KEY_SHAPES, KeyMethods } from './keys.ts';
import { LogMethods } from './log-methods.ts';
import { MEMORY_SHAPES, MemoryMethods } from './memory-methods.ts';
import { messageParts } from './sending/message-parts.ts';
import { MODEL_SHAPES, ModelMethods } from './model-methods.ts';
import { WebhookMethods } from './webhook-methods.ts';
import { openConversation, taskOf } from './task.ts';
import type { OpenConversation, Task } from './task.ts';

export interface StartOptions<Output = unknown> extends ConversationChoices {
  /**
   * The form of the final answer: a zod object or the JSON Schema of an object. `task.result()` returns the answer in this form as
   * `output`. Default: the agent's form.
   */
  readonly output?: GivenForm<Output>;
  /**
   * Chosen by the caller, 1 to 200 characters. A repeated start with the same key returns the first conversation. It is also the id of
   * the first message. Default: each start is a new conversation.
   */
  readonly startKey?: string;
  /** Chosen by the caller, a new UUID. Give the same `startKey` with it each time. Default: Holdfast makes one. */
  readonly conversationId?: string;
}

/**
 * Starts, steers, watches and searches conversations. Every method that writes returns after its row is committed; the turn is rung in
 * the background, and rows that nobody rang for are found by upkeep. All methods throw `HoldfastClientError`.
 */
export class Holdfast {
  readonly conversation: ConversationMethods;
  readonly branches: BranchMethods;
  readonly log: LogMethods;
  readonly memory: MemoryMethods;
  readonly decisions: DecisionMethods;
  readonly models: ModelMethods;
  readonly keys: KeyMethods;
  readonly webhooks: WebhookMethods;
  readonly #context: ClientContext;
  readonly #disconnect: () => Promise<void>;
  #closing: Promise<void> | null = null;

  constructor(context: ClientContext, disconnect: () => Promise<void>) {
    this.#context = context;
    this.#disconnect = disconnect;
    const { boundary } = context;
    this.log = boundary.guard('log', new LogMethods(context));
    this.conversation = boundary.guard('conversation', new ConversationMethods(context), CONVERSATION_SHAPES);
    this.branches = boundary.guard('branches', new BranchMethods(context));
    this.memory = boundary.guard('memory', new MemoryMethods(context), MEMORY_SHAPES);
    this.decisions = boundary.guard('decisions', new DecisionMethods(context));
    this.models = boundary.guard('models', new ModelMethods(context), MODEL_SHAPES);
    this.keys = boundary.guard('keys', new KeyMethods(context), KEY_SHAPES);
    this.webhooks = boundary.guard('webhooks', new WebhookMethods(context));
  }

  /**
   * Gives an agent a task in a new conversation. Returns once the task is stored; the turn runs on a worker.
   * @param task what the user asks for
   * @throws HoldfastClientError `message_id_reused` (the start key belongs to another task), `namespace_differs`
   */
  start<Output = unknown>(task: MessageContent, options: StartOptions<Output> = {}): Promise<Task<Output>> {
    const { output: form } = options;
    const own = { conversationId: uuid.optional(), output: givenForm.optional() };
    const shape = { ...ENDPOINTS.start.arguments, ...conversationChoices, ...own };
    return this.#context.boundary.call('start', { task, ...options }, shape, async () => {
      const { agent = 'default', model = null, preset = null, workspace = null, user = null } = options;
      const { startKey, conversationId } = options;
      const sent = await this.#context.sending.start({
        mode: 'queue',
        agent,
        settings: { model, preset, workspace, user },
        content: messageParts(task),
        ...definedOf({ startKey, conversationId, output: form && schemaOf(form) }),
      });
      return taskOf(this, { sent, afterEvent: 0, form });
    });
  }

  /** A conversation that was started before. Does not read it: the methods refuse an unknown id. */
  open(conversationId: string): OpenConversation {
    return openConversation(this, conversationId);
  }

  /** Waits up to 2 s for signals to workers, then closes the connections. Every other method then throws `client_closed`. */
  close(): Promise<void> {
    this.#context.boundary.close();
    return (this.#closing ??= this.#disconnect());
  }
}

/**
 * The client of a `holdfast server`. It lacks what only an operator with the database may do, such as `memory.reindex` and `keys`. Of the
 * choices of `conversation.import` it takes `agent` and `user`.
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
