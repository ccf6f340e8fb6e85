import type { AgentContext, ContentBlock, PromptResponse, SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import type { Holdfast } from '../../client/holdfast.ts';
import type { ConversationChoices, MessagePart } from '../../client/arguments.ts';
import type { TimelineEvent, WaitingCall } from '../../client/types.ts';
import { newId } from '../../store/database/ids.ts';
import { AnswerStream } from './answer-stream.ts';
import { Permissions } from './permissions.ts';
import { messagePart } from './prompt-content.ts';
import { compactionSentence, entryUpdates, parsed, STOP_REASONS, textUpdate, waitSentence } from './updates.ts';
import type { ToldEntry } from './updates.ts';

export interface SessionOptions {
  readonly client: Holdfast;
  readonly editor: AgentContext;
  readonly conversationId: string;
  /** Absolute path. */
  readonly workspace: string;
  /** The editor shows compactions by themselves. */
  readonly knowsCompactions: boolean;
}

/** For the worker to stop a turn; without a worker nothing ends it. */
const CANCEL_MILLISECONDS = 5_000;

type Compaction = Omit<SessionUpdate & { sessionUpdate: 'compaction_update' }, 'sessionUpdate'>;

interface OpenPrompt {
  /** `null`: not sent yet, or the answer to a question. */
  messageId: string | null;
  turnId: string | null;
  readonly end: (reason: StopReason) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A conversation as an editor sees it. One reader of the timeline tells the editor everything in order, whoever caused it, and ends
 * prompts; the conversation begins with the first prompt, under the session's id.
 */
export class AcpSession {
  /** Chosen until it is started. */
  choices: ConversationChoices = {};
  isStarted = false;
  readonly #options: SessionOptions;
  readonly #of: { readonly conversationId: string };
  readonly #permissions: Permissions;
  readonly #stream = new AnswerStream();
  readonly #closing = new AbortController();
  readonly #prompts = new Set<OpenPrompt>();
  #sending: Promise<void> = Promise.resolve();
  #isFollowed = false;
  #shownEvent = 0;
  /** Entries up to it were replayed. */
  #shownEntry = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#of = { conversationId: options.conversationId };
    this.#permissions = new Permissions(options);
  }

  /** Goes on with a conversation. @param isReplayed whether the editor is told what was said */
  async load(isReplayed: boolean): Promise<void> {
    const conversation = await this.#options.client.conversation.get(this.#of);
    const { agent, model, turn } = conversation;
    this.choices = { agent, ...(model !== null && { model }), ...(turn !== null && { preset: turn.preset }) };
    this.isStarted = true;
    this.#shownEvent = conversation.eventCount;
    this.#shownEntry = conversation.entryCount;
    if (isReplayed) await this.#replay();
    await this.#ask(conversation.waitingCalls);
    this.#follow();
  }

  /** Sends a prompt, or answers the question that waits, and waits until the turn has ended or asks. */
  async prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const content = blocks.map(messagePart);
    return new Promise((resolve, reject) => {
      const end = (stopReason: StopReason): void => resolve({ stopReason });
      const prompt: OpenPrompt = { messageId: null, turnId: null, end, fail: reject };
      this.#prompts.add(prompt);
      // One after the other, because the first one starts the conversation.
      this.#sending = this.#sending
        .then(() => this.#send(content, prompt))
        .catch((error: unknown) => {
          this.#prompts.delete(prompt);
          reject(error);
        });
    });
  }

  async cancel(): Promise<void> {
    await this.#sending;
    if (!this.isStarted) return;
    await this.#options.client.conversation.stop(this.#of);
    // They stay open, so that a message that is taken later is not shown as that of somebody else.
    for (const { turnId, end } of this.#prompts) {
      setTimeout(end, turnId === null ? 0 : CANCEL_MILLISECONDS, 'cancelled').unref();
    }
  }

  /** The turn goes on, and its prompts are answered. */
  close(): void {
    this.#closing.abort();
    for (const prompt of this.#prompts) prompt.end('cancelled');
    this.#prompts.clear();
  }

  async #send(content: readonly MessagePart[], prompt: OpenPrompt): Promise<void> {
    const { client, conversationId, workspace } = this.#options;
    if (!this.isStarted) {
      // The first message has the id of its conversation.
      prompt.messageId = conversationId;
      await client.start(content, { ...this.choices, workspace, conversationId, startKey: conversationId });
      this.isStarted = true;
      this.#follow();
      return;
    }
    this.#follow();
    const { waitingCalls } = await client.conversation.get(this.#of);
    const [question, next] = waitingCalls.filter(({ kind }) => kind === 'question');
    if (question === undefined) {
      prompt.messageId = newId();
      await client.conversation.send({ conversationId, messageId: prompt.messageId, content });
    } else {
      prompt.turnId = question.turnId;
      const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
      await client.decisions.answer({ conversationId, call: question.call, text });
      if (next !== undefined) await this.#ask([next]);
    }
  }

  async #replay(): Promise<void> {
    for (let afterSequence = 0; afterSequence < this.#shownEntry;) {
      const { items, hasMore } = await this.#options.client.log.entries({ ...this.#of, afterSequence });
      for (const entry of items.filter(({ sequence }) => sequence <= this.#shownEntry)) {
        if (entry.compactionId === null) await this.#tell(this.#updatesOf(entry));
        else await this.#showCompacted(entry.compactionId);
      }
      if (!hasMore) return;
      afterSequence = items.at(-1)?.sequence ?? this.#shownEntry;
    }
  }

  #follow(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    this.#readTimeline()
      .catch((error: unknown) => {
        for (const prompt of this.#prompts) prompt.fail(error);
        this.#prompts.clear();
      })
      .finally(() => {
        this.#isFollowed = false;
      });
  }

  async #readTimeline(): Promise<void> {
    const from = { ...this.#of, afterSequence: this.#shownEvent, signal: this.#closing.signal };
    for await (const update of this.#options.client.conversation.watch(from)) {
      if (update.type === 'live_text') await this.#tell(this.#stream.live(update.text));
      else {
        await this.#show(update.event);
        this.#shownEvent = update.event.sequence;
      }
    }
  }

  async #show(event: TimelineEvent): Promise<void> {
    switch (event.kind) {
      case 'message_taken': {
        const prompt = [...this.#prompts].find(({ messageId }) => messageId === event.data.messageId);
        // What was sent from elsewhere is shown; what this editor sent it shows itself.
        if (prompt === undefined) await this.#showEntry(event.data.entryId);
        else prompt.turnId = event.turnId;
        break;
      }
      case 'model_call_answered':
      case 'tool_call_finished':
        await this.#showEntry(event.data.entryId);
        if (event.kind === 'model_call_answered') await this.#showUsage(event);
        break;
      case 'decision_requested': {
        const { waitingCalls } = await this.#options.client.conversation.get(this.#of);
        await this.#ask(waitingCalls, `.${event.data.callNumber}.${event.data.callIndex}`);
        break;
      }
      case 'decision_made':
        this.#permissions.decided(`${event.data.turn}.${event.data.callNumber}.${event.data.callIndex}`);
        break;
      case 'turn_waiting':
        await this.#tell([waitSentence(event.data)]);
        break;
      case 'turn_ended':
        await this.#showEnd(event);
        break;
      case 'compaction_committed':
        await this.#showCompacted(event.data.compactionId);
        break;
      case 'compaction_started':
        if (event.data.formNumber > 1) break;
        await this.#tellCompaction({ compactionId: event.data.compactionId, status: 'in_progress' });
        break;
      case 'compaction_abandoned': {
        const { compactionId, failure: error } = event.data;
        await this.#tellCompaction({ compactionId, status: 'failed', error });
        break;
      }
      default:
    }
  }

  async #showCompacted(compactionId: string): Promise<void> {
    const summaries = await this.#options.client.log.summaries(this.#of);
    const compaction = summaries.find((one) => one.compactionId === compactionId);
    if (compaction === undefined) return;
    const summary = compaction.text === null ? [] : [{ type: 'text' as const, text: compaction.text }];
    if (this.#options.knowsCompactions) await this.#tellCompaction({ compactionId, status: 'completed', summary });
    else await this.#tell([compactionSentence(compaction)]);
  }

  async #tellCompaction(of: Compaction): Promise<void> {
    if (!this.#options.knowsCompactions) return;
    await this.#tell([{ sessionUpdate: 'compaction_update', ...of }]);
  }

  async #showEntry(entryId: string): Promise<void> {
    const entry = await this.#options.client.log.open({ entryId });
    if (entry.sequence > this.#shownEntry) await this.#tell(this.#updatesOf(entry));
  }

  #updatesOf(entry: ToldEntry): SessionUpdate[] {
    const told = entryUpdates(entry, this.#options.workspace);
    return entry.kind === 'assistant' ? [...this.#stream.rest(entry), ...told] : told;
  }

  async #showUsage({ data: { inputTokens, outputTokens } }: TimelineEvent<'model_call_answered'>): Promise<void> {
    if (inputTokens === null) return;
    const { window: size } = await this.#options.client.log.context(this.#of);
    await this.#tell([{ sessionUpdate: 'usage_update', used: inputTokens + (outputTokens ?? 0), size }]);
  }

  /** An editor has no way to ask for text: the prompt ends with the question, and the next one answers it. */
  async #ask(waiting: readonly WaitingCall[], callName = ''): Promise<void> {
    this.#permissions.ask(waiting);
    const question = waiting.find(({ kind, call }) => kind === 'question' && call.endsWith(callName));
    if (question === undefined) return;
    await this.#tell([textUpdate('agent_message_chunk', `\n\n${String(parsed(question.arguments)['question'])}`)]);
    this.#endPrompts(question.turnId, 'end_turn');
  }

  async #showEnd({ turnId, data: { outcome } }: TimelineEvent<'turn_ended'>): Promise<void> {
    if (outcome !== 'completed' && outcome !== 'stopped') {
      const { turn } = await this.#options.client.conversation.get(this.#of);
      const explanation = turn?.turnId === turnId ? (turn.explanation ?? '') : '';
      await this.#tell([textUpdate('agent_message_chunk', `\n\n[${outcome}] ${explanation}`)]);
    }
    this.#endPrompts(turnId, STOP_REASONS[outcome] ?? 'end_turn');
  }

  #endPrompts(turnId: string | null, reason: StopReason): void {
    for (const prompt of this.#prompts) {
      if (prompt.turnId !== turnId) continue;
      this.#prompts.delete(prompt);
      prompt.end(reason);
    }
  }

  async #tell(updates: readonly SessionUpdate[]): Promise<void> {
    const { editor, conversationId: sessionId } = this.#options;
    for (const update of updates) await editor.notify('session/update', { sessionId, update });
  }
}
