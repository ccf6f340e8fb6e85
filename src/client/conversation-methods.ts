import { z } from 'zod';
import { pinLine, unpinLine } from '../context/log/pins.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { deleteConversation } from '../store/conversations/delete-conversation.ts';
import type { ConversationState } from '../store/conversations/conversations.ts';
import { readPins } from '../store/log/pins.ts';
import { readTurnForMessage } from '../store/turns/turns.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { turnWorkflowId } from '../turn/temporal-names.ts';
import { ENDPOINTS } from './api/endpoints.ts';
import { givenForm, schemaOf, steersWithForm } from './answer-form.ts';
import type { GivenForm } from './answer-form.ts';
import {
  absolutePath,
  checkRaise,
  conversationChoices,
  flag,
  noPin,
  ofConversation,
  signal,
  userName,
  whole,
  work,
} from './arguments.ts';
import type { ConversationChoices, MessageContent, OfConversation, ToSend } from './arguments.ts';
import { ThrownByCaller } from './client-context.ts';
import type { ClientContext } from './client-context.ts';
import { describeConversation, describeConversations } from './conversation.ts';
import { messageParts } from './sending/message-parts.ts';
import { describeEndedTurn, SERVED_COMMAND, waitForEndedTurn } from './outcome.ts';
import type { Page } from './page.ts';
import type {
  Conversation,
  EndedTurn,
  ImportedConversation,
  SentMessage,
  ServedCommand,
  WatchOptions,
  WatchUpdate,
  WorkflowRun,
} from './types.ts';
import { watchConversation } from './watch.ts';

const MOST_LISTED = 500;

/** Of methods that have no endpoint, or take more than theirs. */
export const CONVERSATION_SHAPES = {
  send: { ...ENDPOINTS['conversation.send'].arguments, output: givenForm.optional() },
  watch: {
    ...ofConversation,
    afterSequence: whole(0).optional(),
    liveText: flag.optional(),
    signal: signal.optional(),
  },
  outcome: {
    ...ENDPOINTS['conversation.outcome'].arguments,
    output: z.instanceof(z.ZodType).optional(),
    signal: signal.optional(),
  },
  export: { ...ofConversation, write: work },
  import: {
    ...conversationChoices,
    ownIds: flag.optional(),
    memoriesOf: z.object({ workspace: absolutePath.optional(), user: userName.optional() }).optional(),
    lines: z.custom((value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value, {
      error: 'must be an AsyncIterable',
    }),
  },
};

/** Sends messages and commands, reads the state, exports, imports and deletes. */
export class ConversationMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Sends a message. Returns once it is stored.
   * @param options.content what the user says
   * @param options.mode `steer` enters at the next step of the running turn, `queue` starts the next turn. Default: `steer`, but `queue`
   *   with `output`
   * @param options.output the form of the answer, as in `holdfast.start`; not for a message that steers
   * @throws HoldfastClientError `message_id_reused`, `too_many_waiting`, `namespace_differs`
   */
  async send(
    options: ToSend & {
      readonly content: MessageContent;
      readonly mode?: 'steer' | 'queue';
      readonly output?: GivenForm;
    },
  ): Promise<SentMessage> {
    const { database, sending } = this.#context;
    const { conversationId, messageId: id, output: form, mode = form === undefined ? 'steer' : 'queue' } = options;
    if (form !== undefined && mode === 'steer') throw steersWithForm();
    await describeConversation(database, conversationId);
    const message = { conversationId, kind: 'message', mode, content: messageParts(options.content) } as const;
    return sending.send({ ...message, ...definedOf({ id, output: form && schemaOf(form) }) });
  }

  /**
   * Sends `/pin <rule>`: from the next step on the rule is word for word in every request. An idle conversation answers it.
   * @param options.rule one rule, not blank
   */
  async pin(options: ToSend & { readonly rule: string }): Promise<SentMessage> {
    return this.send({ ...options, content: pinLine(options.rule) });
  }

  /**
   * Sends `/unpin <number>`, which ends a pinned rule. Later pins then move up by one.
   * @param options.pin from 1, in the order of `pins`
   * @throws HoldfastClientError `invalid_argument` (there is no such pin, and no message waits that may add it)
   */
  async unpin(options: ToSend & { readonly pin: number }): Promise<SentMessage> {
    const { pin, conversationId } = options;
    const { database } = this.#context;
    const { waitingMessages } = await describeConversation(database, conversationId);
    const pins = await readPins(database, conversationId);
    // A waiting message may add the pin. Sent again, it removes nothing more: it is answered as the duplicate that it is.
    const mayExist = pin <= pins.length || waitingMessages > 0;
    if (!mayExist && !(await this.#isSent(options))) throw noPin(pin, pins.length);
    return this.send({ ...options, content: unpinLine(pin) });
  }

  async #isSent({ conversationId, messageId }: ToSend): Promise<boolean> {
    if (messageId === undefined) return false;
    return (await readTurnForMessage(this.#context.database, { conversationId, messageId })) !== null;
  }

  /** Rules that are pinned on the active branch, in the order of their numbers. */
  async pins(options: OfConversation): Promise<readonly string[]> {
    const { database } = this.#context;
    await describeConversation(database, options.conversationId);
    return readPins(database, options.conversationId);
  }

  /** Ends the running turn. What finished is kept, and the next message continues the conversation. */
  stop(options: ToSend): Promise<SentMessage> {
    return this.#command('stop', options);
  }

  /**
   * Compacts before the next model call, or at once in an idle conversation.
   * @param options.focus what the summary should keep above all
   */
  compact(options: ToSend & { readonly focus?: string }): Promise<SentMessage> {
    return this.#command('compact', options);
  }

  async #command(kind: 'stop' | 'compact', options: ToSend & { readonly focus?: string }): Promise<SentMessage> {
    const { database, sending } = this.#context;
    const { conversationId, messageId: id, focus } = options;
    await describeConversation(database, conversationId);
    return sending.send({ conversationId, kind, ...definedOf({ id, focus }) });
  }

  /**
   * Continues the task of a turn that ended before it was done, without a new message.
   * @param options.raise how much more the turn may use: dollars, seconds or counts by the name of the limit. It is added to what the last
   *   turn left. A limit of the conversation that is reached stays raised
   * @throws HoldfastClientError `nothing_to_resume`, `limit_not_raised` (a reached limit is not raised enough), `resume_waiting` (an
   *   earlier resume waits for a worker), `conversation_busy`
   */
  resume(options: ToSend & { readonly raise?: Partial<ConversationCounts> }): Promise<SentMessage> {
    const { sending } = this.#context;
    const { conversationId, raise = {}, messageId } = options;
    checkRaise(raise);
    return sending.send({ conversationId, kind: 'resume', raise, ...definedOf({ id: messageId }) });
  }

  /** State, newest turn, waiting calls and counts. */
  get(options: OfConversation): Promise<Conversation> {
    return describeConversation(this.#context.database, options.conversationId);
  }

  /**
   * Conversations of the client's tenant, newest activity first.
   * @param options.limit at most 500. Default: 50
   * @param options.before id of the last conversation of the page before
   * @param options.state only conversations in this state
   * @param options.agent only conversations of this agent
   * @param options.since only conversations that were active at or after this time
   */
  list(
    options: {
      readonly limit?: number;
      readonly before?: string;
      readonly state?: ConversationState;
      readonly agent?: string;
      readonly since?: string;
    } = {},
  ): Promise<Page<Conversation>> {
    const { database, tenant } = this.#context;
    const { limit = 50, before: beforeId, state, agent, since } = options;
    const page = { tenant, limit: Math.min(limit, MOST_LISTED), ...definedOf({ beforeId, state, agent, since }) };
    return describeConversations(database, page);
  }

  /**
   * Yields events in order, each once, and live text between them, until the signal aborts.
   * @throws HoldfastClientError `conversation_not_found`, `database_unreachable`
   */
  async *watch(options: WatchOptions): AsyncGenerator<WatchUpdate> {
    const { database, listeners } = this.#context;
    yield* watchConversation(database, listeners, options);
  }

  /**
   * Waits until the turn that took the message or command has ended. Returns a `ServedCommand` for a command that had nothing to act on.
   * @param options.messageId of the message or command, as it was sent
   * @param options.output the form in which the answer comes back as `output`
   * @param options.timeoutMilliseconds how long to wait. Default: no limit
   * @param options.signal ends the wait, not the turn
   * @throws HoldfastClientError `timeout`, `conversation_not_found`, `invalid_argument` (no such message); the reason of a signal that
   * aborted
   */
  async outcome<Output = unknown>(
    options: OfConversation & {
      readonly messageId: string;
      readonly output?: z.ZodType<Output>;
      readonly timeoutMilliseconds?: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<EndedTurn<Output> | ServedCommand> {
    const { database, listeners } = this.#context;
    const ended = await waitForEndedTurn(database, listeners, options);
    return ended === 'served' ? SERVED_COMMAND : describeEndedTurn(database, ended, options.output);
  }

  /**
   * Writes an idle conversation as lines of JSON: originals byte for byte, all branches, summaries and memories.
   * @param options.write takes one line. It is awaited; an error that it throws ends the export and is thrown again
   * @throws HoldfastClientError `conversation_not_found`, `conversation_busy` (also while a message waits)
   */
  async export(options: OfConversation & { readonly write: (line: string) => Promise<void> | void }): Promise<void> {
    const { exportConversation } = await import('../store/transfer/export-conversation.ts');
    await exportConversation(this.#context.database, options.conversationId, async (line) => {
      try {
        await options.write(line);
      } catch (error) {
        // A full disk of the caller is no silent Postgres.
        throw new ThrownByCaller('the function that writes threw', { cause: error });
      }
    });
  }

  /**
   * Stores what `export` wrote, whole or not at all. Agent, model, preset, workspace, user and limits come from the options, not from the
   * file.
   * @param options.lines lines of the file, split at line feeds only. Node's `readline` also splits at U+2028
   * @param options.memoriesOf the workspace and user whose memories those of the file become, if the options name none. Default: memories
   *   of a workspace or a user are left out
   * @param options.ownIds gives conversation, entries and summaries new ids, the same ones for the same file, for a file of another tenant.
   *   Ids inside texts stay. Default: false
   * @throws HoldfastClientError `conversation_exists`, `conversation_file_invalid`
   */
  async import(
    options: ConversationChoices & {
      readonly lines: AsyncIterable<string>;
      readonly memoriesOf?: { readonly workspace?: string; readonly user?: string };
      readonly ownIds?: boolean;
    },
  ): Promise<ImportedConversation> {
    const { database, tenant, taskQueue } = this.#context;
    // Loaded late, as the export and the audit: they bring more than all other methods.
    const { importExportedConversation } = await import('../store/transfer/import-file.ts');
    const { lines, ownIds = false, agent = 'default', model = null, preset = null } = options;
    const { workspace = null, user = null } = options;
    const memoryScopes = {
      agent,
      workspace: workspace ?? options.memoriesOf?.workspace ?? null,
      user: user ?? options.memoriesOf?.user ?? null,
    };
    const settings = { model, preset, workspace, user };
    const request = { lines, agent, tenant, taskQueue, settings, memoryScopes, ownIds };
    return importExportedConversation(database, request);
  }

  /**
   * Deletes an idle conversation for good: rows, search index, memories learned in it.
   * @returns the runs whose histories Temporal still keeps
   * @throws HoldfastClientError `conversation_not_found`, `conversation_busy`
   */
  async delete(options: OfConversation): Promise<readonly WorkflowRun[]> {
    const { database } = this.#context;
    const { runs, isRungFor } = await deleteConversation(database, options.conversationId);
    const workflowId = turnWorkflowId(options.conversationId);
    const isNamed = runs.some((run) => run.workflowId === workflowId);
    return isNamed || !isRungFor ? runs : [...runs, { workflowId, runId: null }];
  }
}
