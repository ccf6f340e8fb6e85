import type { z } from 'zod';
import { checkOf } from './answer-form.ts';
import type { GivenForm } from './answer-form.ts';
import type { MessageContent } from './arguments.ts';
import type { ConversationMethods } from './conversation-methods.ts';
import type { LogMethods } from './log-methods.ts';
import type { Page } from './page.ts';
import type {
  ContextReport,
  Conversation,
  EndedTurn,
  ListedEntry,
  SentMessage,
  StoredSummary,
  TimelineEvent,
  WatchUpdate,
} from './types.ts';

interface Groups {
  readonly conversation: Pick<ConversationMethods, keyof ConversationMethods>;
  readonly log: Pick<LogMethods, keyof LogMethods>;
}

/** A message that was sent, and the turn that takes it. `Output` is the type of the answer. */
export interface Task<Output = unknown> extends SentMessage {
  readonly conversation: OpenConversation;
  /**
   * Events of the turn that takes the message, in order. Ends with the turn.
   * @param options.signal ends it earlier
   */
  events(options?: { readonly signal?: AbortSignal }): AsyncIterable<TimelineEvent>;
  /**
   * Waits until the turn that took the message has ended.
   * @param options.output the form in which the answer comes back as `output`, such as the agent's. Default: the form of the task
   * @param options.timeoutMilliseconds how long to wait. Default: no limit
   * @param options.signal ends the wait, not the turn
   * @throws HoldfastClientError `timeout`; the reason of a signal that aborted
   */
  result<Asked = Output>(options?: ResultOptions<Asked>): Promise<EndedTurn<Asked>>;
}

interface ResultOptions<Output> {
  readonly output?: z.ZodType<Output>;
  readonly timeoutMilliseconds?: number;
  readonly signal?: AbortSignal;
}

/** The options of a method, without the conversation. */
type Rest<Method extends (options: never) => unknown> = Omit<Parameters<Method>[0], 'conversationId'>;

/** One conversation. Its methods are the most used ones of the groups `conversation` and `log`, without the id; `send` returns a task. */
export interface OpenConversation {
  readonly id: string;
  send<Output = unknown>(
    content: MessageContent,
    options?: Omit<Rest<ConversationMethods['send']>, 'content' | 'output'> & { readonly output?: GivenForm<Output> },
  ): Promise<Task<Output>>;
  stop(options?: Rest<ConversationMethods['stop']>): Promise<SentMessage>;
  compact(options?: Rest<ConversationMethods['compact']>): Promise<SentMessage>;
  resume(options?: Rest<ConversationMethods['resume']>): Promise<SentMessage>;
  get(): Promise<Conversation>;
  watch(options?: Rest<ConversationMethods['watch']>): AsyncIterable<WatchUpdate>;
  entries(options?: Rest<LogMethods['entries']>): Promise<Page<ListedEntry>>;
  summaries(): Promise<StoredSummary[]>;
  context(): Promise<ContextReport>;
}

export function openConversation(groups: Groups, conversationId: string): OpenConversation {
  const { conversation, log } = groups;
  return {
    id: conversationId,
    async send(content, options) {
      const { eventCount } = await conversation.get({ conversationId });
      const sent = await conversation.send({ ...options, conversationId, content });
      return taskOf(groups, { sent, afterEvent: eventCount, form: options?.output });
    },
    stop: (options) => conversation.stop({ ...options, conversationId }),
    compact: (options) => conversation.compact({ ...options, conversationId }),
    resume: (options) => conversation.resume({ ...options, conversationId }),
    get: () => conversation.get({ conversationId }),
    watch: (options) => conversation.watch({ ...options, conversationId }),
    entries: (options) => log.entries({ ...options, conversationId }),
    summaries: () => log.summaries({ conversationId }),
    context: () => log.context({ conversationId }),
  };
}

interface Sent<Output> {
  readonly sent: SentMessage;
  /** Number of the newest event before the message. */
  readonly afterEvent: number;
  readonly form: GivenForm<Output> | undefined;
}

export function taskOf<Output>(groups: Groups, { sent, afterEvent, form }: Sent<Output>): Task<Output> {
  const { conversationId } = sent;
  const { conversation } = groups;
  return {
    ...sent,
    conversation: openConversation(groups, conversationId),
    events: (options) => eventsOfTurn(conversation, sent, afterEvent, options?.signal),
    result: resultOf(conversation, sent, form),
  };
}

function resultOf<Output>(
  conversation: Groups['conversation'],
  sent: SentMessage,
  form: GivenForm<Output> | undefined,
): Task<Output>['result'];
function resultOf(conversation: Groups['conversation'], sent: SentMessage, form: GivenForm | undefined) {
  const { conversationId, messageId } = sent;
  const own = form === undefined ? {} : { output: checkOf(form) };
  return async (options?: ResultOptions<unknown>): Promise<EndedTurn> => {
    const turn = await conversation.outcome({ ...own, ...options, conversationId, messageId });
    if (turn.state === 'served') throw new TypeError('a message is taken by a turn');
    return turn;
  };
}

async function* eventsOfTurn(
  conversation: Groups['conversation'],
  { conversationId, messageId }: SentMessage,
  afterSequence: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<TimelineEvent> {
  let turnId: string | null = null;
  // A turn begins before it takes its message: until then nobody knows which turn it is.
  let begun: TimelineEvent[] = [];
  const watching = conversation.watch({
    conversationId,
    afterSequence,
    liveText: false,
    ...(signal !== undefined && { signal }),
  });
  for await (const update of watching) {
    if (update.type !== 'event') continue;
    const { event } = update;
    if (turnId === null) {
      begun = event.kind === 'turn_begun' ? [event] : [...begun, event];
      if (event.kind !== 'message_taken' || event.data.messageId !== messageId) continue;
      ({ turnId } = event);
      yield* begun.filter((each) => each.turnId === turnId);
      continue;
    }
    if (event.turnId === turnId) yield event;
    // A successor that begins has closed a turn whose workflow is gone.
    else if (event.kind === 'turn_begun') return;
    if (event.kind === 'turn_ended' && event.turnId === turnId) return;
  }
}
