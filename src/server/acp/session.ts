import type { AgentContext, ContentBlock, PromptResponse, SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import { textOf } from '../../context/log/content.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { ConversationChoices } from '../../client/arguments.ts';
import type { OpenedEntry, TimelineEvent } from '../../client/types.ts';
import { newId } from '../../store/database/ids.ts';
import { AnswerStream } from './answer-stream.ts';
import { callUpdates, entryUpdates, textUpdate } from './entry-updates.ts';
import { compaction, compactionUpdates, stopReasonOf } from './event-updates.ts';
import { Permissions } from './permissions.ts';
import { promptContent } from './prompt-content.ts';

const PAGE = 200;

export interface SessionOptions {
  readonly client: Holdfast;
  readonly editor: AgentContext;
  readonly id: string;
  /** Absolute path. */
  readonly workspace: string;
  /** The editor shows compactions by themselves. */
  readonly knowsCompactions: boolean;
}

/** A prompt whose turn goes on. */
interface OpenPrompt {
  readonly messageId: string;
  turnId: string | null;
  readonly end: (reason: StopReason) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A conversation as an editor sees it. One reader of the timeline tells the editor everything in order, whoever caused it, and ends
 * prompts; the conversation begins with the first prompt, under the session's id.
 */
export class AcpSession {
  /** Chosen until the first prompt. */
  choices: ConversationChoices = {};
  readonly #options: SessionOptions;
  readonly #permissions: Permissions;
  readonly #stream = new AnswerStream();
  readonly #closing = new AbortController();
  #prompts: OpenPrompt[] = [];
  #isStarted = false;
  #isFollowed = false;
  #shownEvent = 0;
  /** Entries up to it were replayed. */
  #shownEntry = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#permissions = new Permissions(options.client, options.editor);
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Goes on with a conversation. @param isReplayed whether the editor is told what was said */
  async load(isReplayed: boolean): Promise<void> {
    const { client, id, workspace } = this.#options;
    const { agent, model, eventCount, entryCount, waitingCalls } = await client.conversation.get({
      conversationId: id,
    });
    this.choices = { agent, ...(model !== null && { model }) };
    this.#isStarted = true;
    this.#shownEvent = eventCount;
    this.#shownEntry = entryCount;
    if (isReplayed) await this.#replay();
    this.#follow();
    this.#permissions.ask(id, workspace, waitingCalls);
  }

  /** Sends a prompt, or answers the question that waits, and waits until the turn has ended or asks. */
  async prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const content = promptContent(blocks);
    const { client, id, workspace } = this.#options;
    const messageId = this.#isStarted ? newId() : id;
    const { waitingCalls } = this.#isStarted
      ? await client.conversation.get({ conversationId: id })
      : { waitingCalls: [] };
    const question = waitingCalls.find(({ kind }) => kind === 'question');
    return new Promise((resolve, reject) => {
      const prompt: OpenPrompt = {
        messageId,
        turnId: question?.turnId ?? null,
        end: (stopReason) => resolve({ stopReason }),
        fail: reject,
      };
      this.#prompts.push(prompt);
      this.#send(content, messageId, question?.call, workspace).catch((error: unknown) => {
        this.#prompts = this.#prompts.filter((other) => other !== prompt);
        reject(error);
      });
    });
  }

  async cancel(): Promise<void> {
    const { client, id } = this.#options;
    if (this.#isStarted) await client.conversation.stop({ conversationId: id });
  }

  /** The turn goes on. */
  close(): void {
    this.#closing.abort();
  }

  async #send(
    content: ReturnType<typeof promptContent>,
    messageId: string,
    question: string | undefined,
    workspace: string,
  ): Promise<void> {
    const { client, id: conversationId } = this.#options;
    if (question !== undefined) {
      this.#follow();
      await client.decisions.answer({ conversationId, call: question, text: textOf(content) });
    } else if (this.#isStarted) {
      this.#follow();
      await client.conversation.send({ conversationId, messageId, content });
    } else {
      await client.start(content, { ...this.choices, workspace, conversationId, startKey: conversationId });
      this.#isStarted = true;
      this.#follow();
    }
  }

  async #replay(): Promise<void> {
    const { client, id: conversationId, workspace, knowsCompactions } = this.#options;
    const summaries = new Map(
      (await client.log.summaries({ conversationId })).map(({ compactionId, text }) => [compactionId, text]),
    );
    for (let afterSequence = 0; afterSequence < this.#shownEntry;) {
      const { items, hasMore } = await client.log.entries({ conversationId, afterSequence, limit: PAGE });
      for (const entry of items) {
        afterSequence = entry.sequence;
        if (entry.sequence > this.#shownEntry) break;
        const { compactionId } = entry;
        if (compactionId === null) await this.#tell(entryUpdates(entry, workspace));
        else if (knowsCompactions) {
          await this.#tell([compaction(compactionId, 'completed', summaries.get(compactionId) ?? null)]);
        }
      }
      if (!hasMore) return;
    }
  }

  #follow(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    this.#readTimeline()
      .catch((error: unknown) => {
        for (const prompt of this.#prompts.splice(0)) prompt.fail(error);
      })
      .finally(() => {
        this.#isFollowed = false;
      });
  }

  async #readTimeline(): Promise<void> {
    const { client, id: conversationId } = this.#options;
    const { signal } = this.#closing;
    const watching = client.conversation.watch({ conversationId, afterSequence: this.#shownEvent, signal });
    for await (const update of watching) {
      if (update.type === 'live_text') {
        await this.#tell(this.#stream.live(update.text));
        continue;
      }
      await this.#show(update.event);
      this.#shownEvent = update.event.sequence;
    }
  }

  async #show(event: TimelineEvent): Promise<void> {
    const { client, id: conversationId, workspace, knowsCompactions: isKnown } = this.#options;
    switch (event.kind) {
      case 'message_taken':
        await this.#showMessage(event.data, event.turnId);
        break;
      case 'model_call_answered': {
        const entry = await this.#open(event.data.entryId);
        if (entry === null) break;
        await this.#tell([...this.#stream.rest(entry), ...callUpdates(entry, workspace)]);
        await this.#showUsage(event.data);
        break;
      }
      case 'tool_call_finished': {
        const entry = await this.#open(event.data.entryId);
        if (entry !== null) await this.#tell(entryUpdates(entry, workspace));
        break;
      }
      case 'decision_requested': {
        const { waitingCalls } = await client.conversation.get({ conversationId });
        this.#permissions.ask(conversationId, workspace, waitingCalls);
        if (event.data.kind === 'question') await this.#showQuestion(event);
        break;
      }
      case 'decision_made':
        this.#permissions.decided(`${event.data.turn}.${event.data.callNumber}.${event.data.callIndex}`);
        break;
      case 'compaction_committed': {
        const summaries = await client.log.summaries({ conversationId });
        const made = summaries.find(({ compactionId }) => compactionId === event.data.compactionId);
        await this.#tell(compactionUpdates(event, { isKnown, summary: made?.text ?? null }));
        break;
      }
      case 'turn_ended':
        await this.#showEnd(event);
        break;
      default:
        await this.#tell(compactionUpdates(event, { isKnown, summary: null }));
    }
  }

  /** What was sent from elsewhere is shown; what this editor sent it shows itself. */
  async #showMessage(
    { messageId, entryId }: { messageId: string; entryId: string },
    turnId: string | null,
  ): Promise<void> {
    const prompt = this.#prompts.find((one) => one.messageId === messageId);
    if (prompt !== undefined) {
      prompt.turnId = turnId;
      return;
    }
    const entry = await this.#open(entryId);
    if (entry !== null) await this.#tell(entryUpdates(entry, this.#options.workspace));
  }

  /** An editor has no way to ask for text: the prompt ends with the question, and the next one answers it. */
  async #showQuestion({ turnId }: TimelineEvent): Promise<void> {
    const { client, id: conversationId } = this.#options;
    const { waitingCalls } = await client.conversation.get({ conversationId });
    const asked = waitingCalls.filter(({ kind }) => kind === 'question');
    for (const { arguments: json } of asked)
      await this.#tell([textUpdate('agent_message_chunk', `\n\n${questionIn(json)}`)]);
    if (asked.length > 0) this.#endPrompts(turnId, 'end_turn');
  }

  async #showUsage({
    inputTokens,
    outputTokens,
  }: {
    inputTokens: number | null;
    outputTokens: number | null;
  }): Promise<void> {
    if (inputTokens === null) return;
    const { client, id: conversationId } = this.#options;
    const [{ window: size }, { turn }] = await Promise.all([
      client.log.context({ conversationId }),
      client.conversation.get({ conversationId }),
    ]);
    const cost = turn?.cost ?? null;
    await this.#tell([
      {
        sessionUpdate: 'usage_update',
        used: inputTokens + (outputTokens ?? 0),
        size,
        ...(cost !== null && { cost: { amount: cost, currency: 'USD' } }),
      },
    ]);
  }

  async #showEnd(event: TimelineEvent<'turn_ended'>): Promise<void> {
    const { client, id: conversationId } = this.#options;
    const { outcome } = event.data;
    if (outcome !== 'completed' && outcome !== 'stopped') {
      const { turn } = await client.conversation.get({ conversationId });
      const explanation = turn?.turnId === event.turnId ? turn.explanation : null;
      await this.#tell([textUpdate('agent_message_chunk', `\n\n[${outcome}] ${explanation ?? ''}`)]);
    }
    this.#endPrompts(event.turnId, stopReasonOf(outcome));
  }

  #endPrompts(turnId: string | null, reason: StopReason): void {
    const ended = this.#prompts.filter((prompt) => prompt.turnId === turnId);
    this.#prompts = this.#prompts.filter((prompt) => !ended.includes(prompt));
    for (const prompt of ended) prompt.end(reason);
  }

  /** `null`: it was replayed. */
  async #open(entryId: string): Promise<OpenedEntry | null> {
    const entry = await this.#options.client.log.open({ entryId });
    return entry.sequence <= this.#shownEntry ? null : entry;
  }

  async #tell(updates: readonly SessionUpdate[]): Promise<void> {
    const { editor, id: sessionId } = this.#options;
    for (const update of updates) await editor.notify('session/update', { sessionId, update });
  }
}

function questionIn(json: string): string {
  const { question }: { question?: unknown } = JSON.parse(json);
  return typeof question === 'string' ? question : json;
}
