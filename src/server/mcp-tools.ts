/** What an assistant can ask of Holdfast over MCP: each tool is a method of the client, with results that a model can read. */
import { z } from 'zod';
import { textOf } from '../context/log/content.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import type { Holdfast } from '../client/holdfast.ts';
import type { Scope } from '../store/conversations/api-keys.ts';
import { turnState, waitForTurn, waitingCall } from './mcp-turn.ts';

interface McpCall {
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal;
  readonly decidedBy: string | undefined;
}

/** One tool; `run` gets what `input` accepts and returns what `output` describes. */
export interface McpTool<Input extends z.ZodRawShape = z.ZodRawShape> {
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: z.ZodRawShape;
  /** What a key needs. `read`: it changes nothing; else an id of the caller's makes a repeated call harmless. */
  readonly scope: Exclude<Scope, 'admin'>;
  run(client: Holdfast, input: z.output<z.ZodObject<Input>>, call: McpCall): Promise<Record<string, unknown>>;
}

function tool<Input extends z.ZodRawShape>(of: McpTool<Input>): McpTool<Input> {
  return of;
}

/** Seconds; most MCP clients give a call a minute. */
const DEFAULT_WAIT = 50;
const LONGEST_WAIT = 3_600;
/** Characters of an entry that are shown at once. */
const PAGE = 20_000;

const conversation_id = z.string().describe('Id of the conversation, as start_task returned it.');
const waiting = z.object({
  conversation_id: z.string(),
  call: z.string(),
  kind: z.enum(['approval', 'question']),
  tool: z.string(),
  arguments: z.string(),
  expires_at: z.string(),
});
const sent = { conversation_id: z.string(), message_id: z.string(), duplicate: z.boolean() };

const turn = {
  state: z.string().describe('`ended`, `running`, or what the turn waits for.'),
  outcome: z.string().nullable(),
  explanation: z.string().nullable(),
  answer: z.string(),
  waiting_calls: z.array(waiting),
};

export const MCP_TOOLS = {
  start_task: tool({
    title: 'Start a task',
    description:
      'Gives an agent a task in a new conversation and returns at once. The work goes on by itself, over crashes too; wait_for_turn waits for it.',
    input: {
      task: z.string().min(1).describe('What is to be done, with everything the agent needs to know.'),
      agent: z.string().optional().describe('Default: `default`.'),
      workspace: z
        .string()
        .optional()
        .describe("Absolute path of the folder to work in; not over HTTP. Default: the agent's."),
      start_key: z.string().optional().describe('An id of yours: a start that is repeated with it starts nothing.'),
    },
    output: sent,
    scope: 'write',
    async run(client, { task, start_key, ...choices }) {
      const { conversationId, messageId, duplicate } = await client.start(task, {
        ...definedOf({ ...choices, startKey: start_key }),
      });
      return { conversation_id: conversationId, message_id: messageId, duplicate };
    },
  }),
  send_message: tool({
    title: 'Send a message',
    description:
      'Sends a message into a conversation. A running turn reads it at its next step, or after its end (queue).',
    input: {
      conversation_id,
      text: z.string().min(1),
      mode: z.enum(['steer', 'queue']).optional().describe('Default: `steer`.'),
      message_id: z.string().optional().describe('An id of yours: a message that is repeated with it counts once.'),
    },
    output: sent,
    scope: 'write',
    async run(client, { conversation_id: id, text, mode, message_id }) {
      const options = { conversationId: id, content: text, ...definedOf({ mode, messageId: message_id }) };
      const { conversationId, messageId, duplicate } = await client.conversation.send(options);
      return { conversation_id: conversationId, message_id: messageId, duplicate };
    },
  }),
  wait_for_turn: tool({
    title: 'Wait for a turn',
    description:
      'Waits until the turn that took a message has ended, needs a person, or the time is over; then call it again. Says what is to be decided.',
    input: {
      conversation_id,
      message_id: z.string().describe('Id of the message, as start_task or send_message returned it.'),
      timeout_seconds: z.number().min(0).max(LONGEST_WAIT).optional().describe(`Default: ${DEFAULT_WAIT}.`),
    },
    output: turn,
    scope: 'read',
    run: (client, { conversation_id: conversationId, message_id: messageId, timeout_seconds = DEFAULT_WAIT }, call) =>
      waitForTurn(client, { conversationId, messageId, milliseconds: timeout_seconds * 1_000, signal: call.signal }),
  }),
  get_answer: tool({
    title: 'Read the newest answer',
    description: 'Returns how a conversation stands, and the newest answer of its agent, without waiting.',
    input: { conversation_id },
    output: turn,
    scope: 'read',
    run: (client, { conversation_id: conversationId }) => turnState(client, conversationId),
  }),
  recall_search: tool({
    title: 'Search what was said',
    description:
      'Finds passages of a conversation, or of all conversations of an agent: messages, answers, tool results and summaries, also those that left the context window.',
    input: {
      query: z.string().min(1).describe('Words, a phrase, an identifier or a path.'),
      conversation_id: conversation_id.optional(),
      agent: z.string().optional().describe('Instead of a conversation: all of this agent.'),
      limit: z.number().int().min(1).max(100).optional().describe('Default: 10.'),
    },
    output: {
      passages: z.array(
        z.object({
          conversation_id: z.string(),
          entry_id: z.string(),
          kind: z.string(),
          created_at: z.string(),
          offset: z.number(),
          text: z.string(),
        }),
      ),
    },
    scope: 'read',
    async run(client, { conversation_id: conversationId, ...options }) {
      const found = await client.memory.search({ ...definedOf({ ...options, conversationId }), query: options.query });
      const passages = found.map((passage) => ({
        conversation_id: passage.conversationId,
        entry_id: passage.entryId,
        kind: passage.kind,
        created_at: passage.createdAt,
        offset: passage.offset,
        text: passage.text,
      }));
      return { passages };
    },
  }),
  recall_open: tool({
    title: 'Open an entry',
    description: 'Shows the original text of an entry or summary that recall_search or list_summaries named, in pages.',
    input: {
      entry_id: z.string(),
      offset: z.number().int().min(0).optional().describe('First character, from 0. Default: 0.'),
    },
    output: {
      kind: z.string(),
      text: z.string(),
      offset: z.number(),
      total_characters: z.number(),
      next_offset: z.number().nullable(),
    },
    scope: 'read',
    async run(client, { entry_id: entryId, offset = 0 }) {
      const { kind, content, original } = await client.log.open({ entryId });
      const whole = original === null ? textOf(content) : new TextDecoder().decode(original);
      const end = offset + PAGE;
      const rest = end < whole.length ? end : null;
      return { kind, text: whole.slice(offset, end), offset, total_characters: whole.length, next_offset: rest };
    },
  }),
  list_summaries: tool({
    title: 'List summaries',
    description: 'Lists the compactions of a conversation with their summaries, oldest first.',
    input: { conversation_id },
    output: {
      summaries: z.array(
        z.object({
          entry_id: z.string(),
          created_at: z.string(),
          in_force: z.boolean(),
          tokens_before: z.number(),
          tokens_after: z.number(),
          text: z.string().nullable(),
        }),
      ),
    },
    scope: 'read',
    async run(client, { conversation_id: conversationId }) {
      const summaries = await client.log.summaries({ conversationId });
      return {
        summaries: summaries.map((summary) => ({
          entry_id: summary.compactionId,
          created_at: summary.createdAt,
          in_force: summary.inForce,
          tokens_before: summary.tokensBefore,
          tokens_after: summary.tokensAfter,
          text: summary.text,
        })),
      };
    },
  }),
  list_waiting: tool({
    title: 'List what waits for a person',
    description:
      'Lists tool calls that wait for an approval, and questions that wait for an answer, in all conversations.',
    input: { limit: z.number().int().min(1).max(500).optional() },
    output: { waiting_calls: z.array(waiting), has_more: z.boolean() },
    scope: 'read',
    async run(client, options) {
      const { items, hasMore } = await client.decisions.listWaiting(definedOf(options));
      return { waiting_calls: items.map((call) => waitingCall(call.conversationId, call)), has_more: hasMore };
    },
  }),
  decide: tool({
    title: 'Decide on a call that waits',
    description:
      'Approves or denies a tool call that waits, or answers a question. Ask your user first: the call acts with the rights of the agent.',
    input: {
      conversation_id,
      decision: z.enum(['approve', 'deny', 'answer']),
      call: z.string().optional().describe('As in waiting_calls. Default: the only one that waits.'),
      text: z.string().optional().describe('The answer to a question, or the reason of a denial.'),
      decision_id: z.string().optional().describe('An id of yours: a decision that is repeated with it counts once.'),
    },
    output: { call: z.string(), tool: z.string(), duplicate: z.boolean() },
    scope: 'decide',
    async run(
      client,
      { conversation_id: conversationId, decision, call, text, decision_id: decisionId },
      { decidedBy },
    ) {
      const options = { conversationId, ...definedOf({ call, decisionId, decidedBy }) };
      const made =
        decision === 'answer'
          ? await client.decisions.answer({ ...options, text: text ?? '' })
          : await client.decisions[decision]({ ...options, ...definedOf({ reason: text }) });
      return { call: made.call, tool: made.tool, duplicate: made.duplicate };
    },
  }),
};
