import { z } from 'zod';
import { flag, formed, named, ofConversation, oneOf, text, time, whole } from '../arguments.ts';
import { listOf, pageOf } from './conversation-results.ts';
import type { Endpoint } from './endpoint.ts';
import { contextReport, listedEntry, openedEntry, pastCall, pastView, timelineEvent } from './log-results.ts';
import { costRow, foundPassage, providerPause, servedModel, storedMemory } from './memory-results.ts';
import { compactionLineage, storedSummary, summaryAudit, summaryDifference } from './summary-results.ts';

const CONVERSATION = '/conversations/{conversationId}';
const number = whole(1).optional();
const limit = number;
const callNumbers = formed(/^\d{1,9}\.\d{1,9}\.\d{1,9}$/u, 'must be turn, call number and attempt, such as 3.7.1');
const reads = { method: 'get', scope: 'read' } as const;

const LOG = {
  'log.entries': {
    ...reads,
    path: `${CONVERSATION}/entries`,
    summary: 'List entries of the active branch, without bounds the newest',
    arguments: {
      ...ofConversation,
      afterSequence: whole(0).optional(),
      beforeSequence: whole(1).optional(),
      limit,
    },
    result: pageOf(listedEntry),
  },
  'log.count': {
    ...reads,
    path: `${CONVERSATION}/entries/count`,
    summary: 'Count the entries of the active branch',
    arguments: { ...ofConversation, beforeSequence: number },
    result: z.int(),
  },
  'log.findEntryId': {
    ...reads,
    path: `${CONVERSATION}/entries/{sequence}/id`,
    summary: 'Find the id of the entry with a sequence, on whatever branch',
    arguments: { ...ofConversation, sequence: whole(0) },
    result: z.string(),
    refuses: ['entry_not_found'],
  },
  'log.open': {
    ...reads,
    path: '/entries/{entryId}',
    summary: 'Show an entry, or a summary by the id of its compaction',
    arguments: { entryId: text },
    result: openedEntry,
  },
  'log.around': {
    ...reads,
    path: '/entries/{entryId}/around',
    summary: 'List the entries around an entry on its branch',
    arguments: { entryId: text, count: whole(0) },
    result: listOf(listedEntry),
  },
  'log.summaries': {
    ...reads,
    path: `${CONVERSATION}/summaries`,
    summary: 'List the summaries, oldest first',
    arguments: ofConversation,
    result: listOf(storedSummary),
  },
  'log.searchSummaries': {
    method: 'post',
    path: `${CONVERSATION}/summaries/search`,
    scope: 'read',
    summary: 'List the summaries whose text matches',
    arguments: { ...ofConversation, query: text },
    result: listOf(storedSummary),
  },
  'log.summaryDifference': {
    ...reads,
    path: `${CONVERSATION}/summaries/difference`,
    summary: 'Compare two summaries; without generations the one in force with the one that it updates',
    arguments: { ...ofConversation, older: number, newer: number },
    result: summaryDifference,
  },
  'log.lineage': {
    ...reads,
    path: `${CONVERSATION}/lineage`,
    summary: 'Show from which originals each summary was made, and what each compaction shows shorter',
    arguments: ofConversation,
    result: listOf(compactionLineage),
  },
  'log.audit': {
    ...reads,
    path: `${CONVERSATION}/audit`,
    summary:
      'List facts of the originals that the window, as it is or as a compaction left it, no longer says, and search for up to `limit` (50)',
    arguments: { ...ofConversation, compactionId: text.optional(), limit },
    result: summaryAudit,
    refuses: ['entry_not_found'],
  },
  'log.events': {
    ...reads,
    path: `${CONVERSATION}/timeline`,
    summary: 'List events of the timeline, the newest ones or the newest before one, in order',
    arguments: {
      ...ofConversation,
      kinds: z.array(named, { error: 'must be a list' }).optional(),
      beforeSequence: number,
      limit,
    },
    result: pageOf(timelineEvent),
  },
  'log.context': {
    ...reads,
    path: `${CONVERSATION}/context`,
    summary: 'Show what fills the window of the next call',
    arguments: ofConversation,
    result: contextReport,
  },
  'log.view': {
    ...reads,
    path: `${CONVERSATION}/view`,
    summary: 'Show what the model saw at a call; without numbers the newest',
    arguments: { ...ofConversation, turn: number, callNumber: number, attempt: number },
    result: pastView,
  },
  'log.modelCalls': {
    ...reads,
    path: `${CONVERSATION}/model-calls`,
    summary: 'List the newest model calls, or the newest before one, with every try, oldest first',
    arguments: { ...ofConversation, before: callNumbers.optional(), limit },
    result: pageOf(pastCall),
  },
} as const satisfies Record<string, Endpoint>;

const kinds = oneOf('user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary');

const MEMORY_AND_MODELS = {
  'memory.search': {
    method: 'post',
    path: '/search',
    scope: 'read',
    summary: 'Search everything that a conversation, or all conversations of an agent, ever held',
    arguments: {
      conversationId: text.optional(),
      agent: named.optional(),
      query: text,
      limit,
      kinds: z.array(kinds, { error: 'must be a list' }).optional(),
      after: time.optional(),
      before: time.optional(),
      askedAt: time.optional(),
    },
    result: listOf(foundPassage),
  },
  'memory.countUnindexed': {
    ...reads,
    path: '/search/unindexed',
    summary: 'Count entries that no search finds yet',
    arguments: { conversationId: text.optional(), agent: named.optional() },
    result: z.int(),
  },
  'memory.list': {
    ...reads,
    path: '/memories',
    summary: 'List memories, newest first',
    arguments: {
      scope: oneOf('agent', 'user', 'workspace').optional(),
      name: named.optional(),
      all: flag.optional(),
      before: text.optional(),
      limit,
    },
    result: pageOf(storedMemory),
  },
  'memory.forget': {
    method: 'delete',
    path: '/memories/{memoryId}',
    scope: 'write',
    summary: 'Delete a memory and those whose place it had taken',
    arguments: { memoryId: text },
    result: z.void(),
  },
  'models.costs': {
    ...reads,
    path: '/costs',
    summary: 'Add up what model calls cost; by turn and by step those of one conversation',
    arguments: {
      by: oneOf('agent', 'model', 'conversation', 'turn', 'step'),
      since: time.optional(),
      conversationId: text.optional(),
      limit,
    },
    result: pageOf(costRow),
  },
  'models.listServed': {
    ...reads,
    path: '/served-models',
    summary: "List models as their servers' own lists had them",
    arguments: {},
    result: listOf(servedModel),
  },
  'models.listPauses': {
    ...reads,
    path: '/provider-pauses',
    summary: 'List providers that are not called before a time',
    arguments: {},
    result: listOf(providerPause),
  },
} as const satisfies Record<string, Endpoint>;

/** What conversations hold, what was remembered, and what it cost. */
export const LOG_ENDPOINTS = { ...LOG, ...MEMORY_AND_MODELS };
