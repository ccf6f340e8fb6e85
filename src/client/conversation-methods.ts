import { z } from 'zod';
import { pinLine, unpinLine } from '../context/log/pins.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { deleteConversation } from '../store/conversations/delete-conversation.ts';
import type { ConversationState } from '../store/conversations/conversations.ts';
import { readPins } from '../store/log/pins.ts';
import { exportConversation } from '../store/transfer/export-conversation.ts';
import { importExportedConversation } from '../store/transfer/import-file.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { turnWorkflowId } from '../turn/temporal-names.ts';
import { ENDPOINTS } from './api/endpoints.ts';
import { givenForm, schemaOf } from './answer-form.ts';
import type { GivenForm } from './answer-form.ts';
import {
  absolutePath,
  checkRaise,
  conversationChoices,
  flag,
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
import { HoldfastClientError } from './errors.ts';
import { messageParts } from './sending/message-parts.ts';
import { describeEndedTurn, waitForEndedTurn } from './outcome.ts';
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

const SERVED_COMMAND: ServedCommand = {
  turnId: null,
  state: 'served',
  outcome: 'nothing_to_do',
  reason: null,
  explanation: 'The command had nothing to act on: no turn was running, or the task was done.',
  text: '',
};

/** Conversations as a whole: what is sent into them, how they stand, out of the database and in again. */
export class ConversationMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * @param options.mode `steer`: enters at the running turn's next step; `queue`: starts the next turn. Default: `steer`, with
   *   `output` `queue`
   * @param options.output the form of the answer, instead of the agent's; not for a message that steers
   */
  send(
    options: ToSend & {
      readonly content: MessageContent;
      readonly mode?: 'steer' | 'queue';
      readonly output?: GivenForm;
    },
  ): Promise<SentMessage> {
    const { boundary, database, sending } = this.#context;
    const shape = { ...ENDPOINTS['conversation.send'].arguments, output: givenForm.optional() };
    return boundary.callWith(shape, 'conversation.send', options, async () => {
      const { conversationId, messageId: id, output: form, mode = form === undefined ? 'steer' : 'queue' } = options;
      if (form !== undefined && mode === 'steer') throw steersWithForm();
      await describeConversation(database, conversationId);
      const message = { conversationId, kind: 'message', mode, content: messageParts(options.content) } as const;
      return sending.send({ ...message, ...definedOf({ id, output: form && schemaOf(form) }) });
    });
  }

  /** Sends `/pin <rule>`: from the next step on the rule stands word for word in every request. An idle conversation answers it. */
  async pin(options: ToSend & { readonly rule: string }): Promise<SentMessage> {
    this.#context.boundary.check('conversation.pin', options, ENDPOINTS['conversation.pin'].arguments);
    return this.send({ ...options, content: pinLine(options.rule) });
  }

  /** Sends `/unpin <number>`. @param options.pin from 1, in the order of `pins` */
  async unpin(options: ToSend & { readonly pin: number }): Promise<SentMessage> {
    this.#context.boundary.check('conversation.unpin', options, ENDPOINTS['conversation.unpin'].arguments);
    return this.send({ ...options, content: unpinLine(options.pin) });
  }

  /** Rules that are pinned on the active branch, in the order of their numbers. */
  pins(options: OfConversation): Promise<readonly string[]> {
    const { boundary, database } = this.#context;
    return boundary.call('conversation.pins', options, async () => {
      await describeConversation(database, options.conversationId);
      return readPins(database, options.conversationId);
    });
  }

  /** Ends the running turn: what finished is kept, the conversation goes on with the next message. */
  stop(options: ToSend): Promise<SentMessage> {
    return this.#command('stop', options);
  }

  /** Asks for a compaction. @param options.focus what the summary should keep above all */
  compact(options: ToSend & { readonly focus?: string }): Promise<SentMessage> {
    return this.#command('compact', options);
  }

  #command(kind: 'stop' | 'compact', options: ToSend & { readonly focus?: string }): Promise<SentMessage> {
    const { boundary, database, sending } = this.#context;
    return boundary.call(`conversation.${kind}`, options, async () => {
      const { conversationId, messageId: id, focus } = options;
      await describeConversation(database, conversationId);
      return sending.send({ conversationId, kind, ...definedOf({ id, focus }) });
    });
  }

  /**
   * Goes on with the task of a turn that ended before it was done, without a new message, and raises limits. What is raised is
   * added to what the last turn left, and for good to those limits of the conversation that are reached.
   * @throws HoldfastClientError `nothing_to_resume`, `limit_not_raised` (a limit that is reached is not among them, or by too little),
   *   `resume_waiting` (one was sent that no worker has taken yet), `conversation_busy` (a turn runs, or its
   *   branch is being changed)
   */
  resume(options: ToSend & { readonly raise?: Partial<ConversationCounts> }): Promise<SentMessage> {
    const { boundary, sending } = this.#context;
    return boundary.call('conversation.resume', options, async () => {
      const { conversationId, raise = {}, messageId } = options;
      checkRaise(raise);
      return sending.send({ conversationId, kind: 'resume', raise, ...definedOf({ id: messageId }) });
    });
  }

  get(options: OfConversation): Promise<Conversation> {
    return this.#context.boundary.call('conversation.get', options, () =>
      describeConversation(this.#context.database, options.conversationId),
    );
  }

  /**
   * Newest activity first.
   * @param options.limit at most 500. Default: 50
   * @param options.before id of the last conversation of the page before
   * @param options.since ISO time: only those that were active at or after it
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
    const { boundary, database, tenant } = this.#context;
    return boundary.call('conversation.list', options, () => {
      const { limit = 50, before: beforeId, state, agent, since } = options;
      const page = { tenant, limit: Math.min(limit, MOST_LISTED), ...definedOf({ beforeId, state, agent, since }) };
      return describeConversations(database, page);
    });
  }

  /**
   * Events in order, each once, and live text between them, until the signal aborts.
   * @throws HoldfastClientError `conversation_not_found`, `database_unreachable` and what else keeps Postgres from answering
   */
  async *watch(options: WatchOptions): AsyncGenerator<WatchUpdate> {
    const { boundary, database, listeners } = this.#context;
    boundary.check('conversation.watch', options, {
      ...ofConversation,
      afterSequence: whole(0).optional(),
      liveText: flag.optional(),
      signal: signal.optional(),
    });
    yield* watchConversation(database, listeners, options);
  }

  /**
   * Waits until the turn that took the message or command has ended, and tells of that turn. A command that found nothing to
   * act on is answered as soon as it was looked at.
   * @param options.output the form of the answer, as the agent or the message asked for it: the answer comes back as `output`
   * @param options.timeoutMilliseconds default: no limit
   * @throws HoldfastClientError `timeout`, `conversation_not_found`, `invalid_argument` (no such message in it); the reason of
   * a signal that aborted
   */
  outcome<Output = unknown>(
    options: OfConversation & {
      readonly messageId: string;
      readonly output?: z.ZodType<Output>;
      readonly timeoutMilliseconds?: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<EndedTurn<Output> | ServedCommand> {
    const { boundary, database, listeners } = this.#context;
    const shape = {
      ...ENDPOINTS['conversation.outcome'].arguments,
      output: z.instanceof(z.ZodType).optional(),
      signal: signal.optional(),
    };
    return boundary.callWith(shape, 'conversation.outcome', options, async () => {
      const ended = await waitForEndedTurn(database, listeners, options);
      return ended === 'served' ? SERVED_COMMAND : describeEndedTurn(database, ended, options.output);
    });
  }

  /**
   * Writes what was said in an idle conversation as lines of JSON: originals byte for byte, all branches, summaries, memories.
   * @param options.write awaited line by line; what it throws ends the export and comes back as it is
   * @throws HoldfastClientError `conversation_not_found`, `conversation_busy` (also while a message waits)
   */
  export(options: OfConversation & { readonly write: (line: string) => Promise<void> | void }): Promise<void> {
    const shape = { ...ofConversation, write: work };
    return this.#context.boundary.callWith(shape, 'conversation.export', options, () =>
      exportConversation(this.#context.database, options.conversationId, async (line) => {
        try {
          await options.write(line);
        } catch (error) {
          // A full disk of the caller is no silent Postgres.
          throw new ThrownByCaller('the function that writes threw', { cause: error });
        }
      }),
    );
  }

  /**
   * Stores what `export` wrote, whole or not at all. A file is data: agent, model, preset, workspace, user and
   * limits are of who imports it, as for a new conversation.
   * @param options.lines lines of the file, separated by line feeds only: Node's `readline` also takes U+2028 for the end of one
   * @param options.memoriesOf whom memories of the file are kept for, where the conversation has neither workspace nor user of its own:
   *   those of its agent. Default: nobody, and memories of a workspace or a user are left out
   * @param options.ownIds whether conversation, entries and summaries get ids of the client's tenant, the same ones for the same file,
   *   where it may come from another tenant. What was said keeps the ids that it names. Default: false
   * @throws HoldfastClientError `conversation_exists`, `conversation_file_invalid`
   */
  import(
    options: ConversationChoices & {
      readonly lines: AsyncIterable<string>;
      readonly memoriesOf?: { readonly workspace?: string; readonly user?: string };
      readonly ownIds?: boolean;
    },
  ): Promise<ImportedConversation> {
    const { boundary, database, tenant, taskQueue } = this.#context;
    const shape = {
      ...conversationChoices,
      ownIds: flag.optional(),
      memoriesOf: z.object({ workspace: absolutePath.optional(), user: userName.optional() }).optional(),
      lines: z.custom((value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value, {
        error: 'must be an AsyncIterable',
      }),
    };
    return boundary.callWith(shape, 'conversation.import', options, () => {
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
    });
  }

  /**
   * Deletes an idle conversation for good: rows, search index, memories learned in it.
   * @returns the runs whose histories Temporal still keeps
   * @throws HoldfastClientError `conversation_not_found`, `conversation_busy`
   */
  delete(options: OfConversation): Promise<readonly WorkflowRun[]> {
    const { boundary, database } = this.#context;
    return boundary.call('conversation.delete', options, async () => {
      const { runs, isRungFor } = await deleteConversation(database, options.conversationId);
      const workflowId = turnWorkflowId(options.conversationId);
      const isNamed = runs.some((run) => run.workflowId === workflowId);
      return isNamed || !isRungFor ? runs : [...runs, { workflowId, runId: null }];
    });
  }
}

function steersWithForm(): HoldfastClientError {
  return new HoldfastClientError(
    'invalid_argument',
    'conversation.send: a message that steers a running turn has no output of its own',
    { next: 'Leave `mode` out or make it `queue`: the answer of the next turn then has the form.' },
  );
}
