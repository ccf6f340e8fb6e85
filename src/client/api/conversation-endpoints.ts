import { z } from 'zod';
import { jsonForm } from '../answer-form.ts';
import {
  content,
  flag,
  formed,
  named,
  numberOf,
  ofConversation,
  oneOf,
  storable,
  text,
  time,
  toSend,
  userName,
  uuid,
  whole,
} from '../arguments.ts';
import {
  conversation,
  decidedCall,
  endedTurn,
  listOf,
  pageOf,
  sentDecision,
  sentMessage,
  servedCommand,
  standingApproval,
  waitingCallOfTenant,
  workflowRun,
} from './conversation-results.ts';
import type { Endpoint } from './endpoint.ts';
import { branch } from './log-results.ts';

const CONVERSATION = '/conversations/{conversationId}';
const limit = whole(1).optional();
const callOfConversation = formed(
  /^[^/]*\/\d{1,9}\.\d{1,9}\.\d{1,9}$/u,
  'must be a conversation and a call, such as <conversationId>/3.2.0',
);

const sends = {
  method: 'post',
  scope: 'write',
  result: sentMessage,
  idempotencyKey: 'messageId',
  status: 202,
  refuses: ['message_id_reused', 'too_many_waiting'],
} as const;
const begins = { ...sends, uses: 'turn' } as const;
/** Refused while a turn is open. */
const whileIdle = { refuses: [...sends.refuses, 'conversation_busy'] } as const;
const reads = { method: 'get', scope: 'read' } as const;
const decides = {
  method: 'post',
  scope: 'decide',
  result: sentDecision,
  idempotencyKey: 'decisionId',
  refuses: ['decision_not_found', 'decision_ambiguous', 'decision_stale', 'decision_id_reused'],
} as const;

const toChange = { ...toSend, summarize: flag.optional() };
const toDecide = {
  ...ofConversation,
  call: text.optional(),
  decisionId: storable.optional(),
  decidedBy: text.optional(),
};
const toJudge = { ...toDecide, for: oneOf('call', 'turn', 'agent').optional(), reason: text.optional() };

const CONVERSATIONS = {
  start: {
    ...begins,
    path: '/conversations',
    summary: 'Give an agent a task in a new conversation',
    // Neither model nor workspace nor preset: an agent of the configuration says what may be done where.
    arguments: {
      task: content,
      agent: named.optional(),
      user: userName.optional(),
      startKey: text.optional(),
      output: jsonForm.optional(),
    },
    idempotencyKey: 'startKey',
    status: 201,
  },
  'conversation.list': {
    ...reads,
    path: '/conversations',
    summary: 'List conversations, newest activity first',
    arguments: {
      limit,
      before: text.optional(),
      state: oneOf('working', 'queued', 'idle').optional(),
      agent: named.optional(),
      since: time.optional(),
    },
    result: pageOf(conversation),
  },
  'conversation.get': {
    ...reads,
    path: CONVERSATION,
    summary: 'Show a conversation with its newest turn and the calls that wait for a person',
    arguments: ofConversation,
    result: conversation,
  },
  'conversation.delete': {
    method: 'delete',
    path: CONVERSATION,
    scope: 'admin',
    summary: 'Delete an idle conversation for good',
    arguments: ofConversation,
    result: listOf(workflowRun),
    refuses: ['conversation_busy'],
  },
  'conversation.send': {
    ...sends,
    uses: 'message',
    path: `${CONVERSATION}/messages`,
    summary: 'Send a message: it enters at the next step (steer) or starts the next turn (queue)',
    arguments: { ...toSend, content, mode: oneOf('steer', 'queue').optional(), output: jsonForm.optional() },
  },
  'conversation.outcome': {
    ...reads,
    path: `${CONVERSATION}/messages/{messageId}/outcome`,
    summary: 'Wait until the turn that took a message has ended',
    arguments: { ...ofConversation, messageId: storable, timeoutMilliseconds: numberOf('milliseconds').optional() },
    result: z.union([endedTurn, servedCommand]),
    waits: true,
    refuses: ['timeout'],
  },
  'conversation.stop': {
    ...sends,
    path: `${CONVERSATION}/stop`,
    summary: 'End the running turn and keep what finished',
    arguments: toSend,
  },
  'conversation.compact': {
    ...sends,
    uses: 'calls',
    path: `${CONVERSATION}/compact`,
    summary: 'Compact the context, with a focus for the summary',
    arguments: { ...toSend, focus: text.optional() },
  },
  'conversation.resume': {
    ...begins,
    refuses: [...whileIdle.refuses, 'nothing_to_resume', 'limit_not_raised', 'resume_waiting'],
    path: `${CONVERSATION}/resume`,
    summary: 'Go on with the task of a turn that ended before it was done, with raised limits',
    // Limits are of the agent's configuration: whoever may only send must not lift them.
    adminArgument: 'raise',
    arguments: {
      ...toSend,
      raise: z
        .record(z.string(), z.number({ error: 'must be a number' }), { error: 'must be limits, such as {"steps": 10}' })
        .optional(),
    },
  },
  'conversation.pins': {
    ...reads,
    path: `${CONVERSATION}/pins`,
    summary: 'List the pinned rules of the active branch',
    arguments: ofConversation,
    result: listOf(z.string()),
  },
  'conversation.pin': {
    ...sends,
    path: `${CONVERSATION}/pins`,
    summary: 'Pin a rule, which then stands word for word in every request',
    arguments: { ...toSend, rule: text.refine((rule) => /\S/u.test(rule), { error: 'must be a rule, not blank' }) },
  },
  'conversation.unpin': {
    ...sends,
    path: `${CONVERSATION}/pins/{pin}/unpin`,
    summary: 'Take a pinned rule away, by its number from 1',
    arguments: { ...toSend, pin: whole(1) },
  },
} as const satisfies Record<string, Endpoint>;

const BRANCHES = {
  'branches.list': {
    ...reads,
    path: `${CONVERSATION}/branches`,
    summary: 'List the branches, oldest first',
    arguments: ofConversation,
    result: listOf(branch),
  },
  'branches.active': {
    ...reads,
    path: `${CONVERSATION}/branches/active`,
    summary: 'Show the branch that the conversation goes on with',
    arguments: ofConversation,
    result: branch,
  },
  'branches.fork': {
    ...sends,
    ...whileIdle,
    uses: 'calls',
    path: `${CONVERSATION}/fork`,
    summary: 'Begin a branch after an entry; null: before the first one',
    arguments: { ...toChange, entryId: uuid.nullable() },
  },
  'branches.switch': {
    ...sends,
    ...whileIdle,
    uses: 'calls',
    path: `${CONVERSATION}/switch`,
    summary: 'Go on with another branch',
    arguments: { ...toChange, branch: whole(0) },
  },
  'branches.regenerate': {
    ...begins,
    ...whileIdle,
    path: `${CONVERSATION}/regenerate`,
    summary: 'Answer a message of the user again, on a branch of its own',
    arguments: { ...toChange, entryId: text.optional() },
  },
  'branches.edit': {
    ...begins,
    ...whileIdle,
    path: `${CONVERSATION}/edit`,
    summary: 'Say an earlier message in other words, on a branch of its own',
    arguments: { ...toChange, entryId: text, content },
  },
} as const satisfies Record<string, Endpoint>;

const DECISIONS = {
  'decisions.approve': {
    ...decides,
    path: `${CONVERSATION}/approve`,
    summary: 'Let a tool call run that waits for it',
    arguments: toJudge,
  },
  'decisions.deny': {
    ...decides,
    path: `${CONVERSATION}/deny`,
    summary: 'Refuse a tool call that waits',
    arguments: toJudge,
  },
  'decisions.answer': {
    ...decides,
    path: `${CONVERSATION}/answer`,
    summary: 'Answer a question that the model asked',
    arguments: { ...toDecide, text },
  },
  'decisions.listWaiting': {
    ...reads,
    path: '/decisions',
    summary: 'List calls that wait for a person in all conversations, the one that waits longest first',
    arguments: { limit, after: callOfConversation.optional() },
    result: pageOf(waitingCallOfTenant),
  },
  'decisions.listMade': {
    ...reads,
    path: '/decisions/made',
    summary: 'List calls that were decided in all conversations, newest first',
    arguments: { limit, before: callOfConversation.optional() },
    result: pageOf(decidedCall),
  },
  'decisions.listStanding': {
    ...reads,
    path: '/standing-approvals',
    summary: 'List decisions for all turns of an agent',
    arguments: {},
    result: listOf(standingApproval),
  },
  'decisions.endStanding': {
    method: 'delete',
    path: '/standing-approvals',
    scope: 'decide',
    summary: 'End a decision for all turns of an agent: calls under the rule ask again',
    arguments: { agent: named, rule: storable },
    result: z.void(),
    refuses: ['decision_not_found'],
  },
} as const satisfies Record<string, Endpoint>;

/** Conversations, their branches, and decisions on calls that wait. */
export const CONVERSATION_ENDPOINTS = { ...CONVERSATIONS, ...BRANCHES, ...DECISIONS };
