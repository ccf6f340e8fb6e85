import { z } from 'zod';
import type { CostRow } from '../../store/conversations/costs.ts';
import type { StoredMemory } from '../../store/memory/memories.ts';
import type { ServedModel } from '../../store/providers/model-facts.ts';
import type { ProviderPause } from '../../store/providers/provider-pauses.ts';
import { isoTime, listOf } from './conversation-results.ts';

// What the client answers about what was said and remembered, and what models cost.

const count = z.int();
const nullableCount = count.nullable();
const optionalText = z.string().exactOptional();

export const costRow = z
  .object({
    name: z.string(),
    calls: count,
    input: count,
    cacheRead: count,
    cacheWrite: count,
    output: count,
    cost: z.number().nullable(),
    knownCost: z.number(),
    callsOfUnknownCost: count,
    repeatedCalls: count,
    repeatedCost: z.number(),
  })
  .meta({ id: 'CostRow' }) satisfies z.ZodType<CostRow>;

export const foundPassage = z
  .object({
    conversationId: z.string(),
    /** The entry; the compaction for a summary. */
    entryId: z.string(),
    kind: z.string(),
    /** Of the entry; `null` for a summary. */
    sequence: nullableCount,
    createdAt: isoTime,
    /** Tool results: the tool, and the path that it was called with if it takes one. */
    toolName: z.string().nullable(),
    path: z.string().nullable(),
    /** Character offset of the passage in its entry. */
    offset: count,
    text: z.string(),
    /**
     * Why it is listed. It has the id of the query, the query as a phrase, its words, or similar words. Or it is beside an entry that has
     * them, or only its meaning is near.
     */
    match: z.enum(['id', 'phrase', 'words', 'similar', 'neighbour', 'meaning']),
    /** Words of the query that it has, in lower case. */
    matched: listOf(z.string()),
    /**
     * Words of the text that match, in lower case, inflected and similar forms too. A page can highlight them. A phrase comes first.
     */
    forms: listOf(z.string()),
    /**
     * The question before an answer, or the answer after a question, shortened to 300 characters. Absent: there is none.
     */
    neighbour: z
      .object({
        says: z.enum(['question', 'answer']),
        entryId: z.string(),
        /** The branch that it was said on, when that is not the active one. */
        branch: count.exactOptional(),
        text: z.string(),
      })
      .exactOptional(),
    /** Branch on which it was said or made. */
    branch: count,
    /** Other conversations with the same text. Absent: none. */
    alsoIn: listOf(z.string()).exactOptional(),
    /** True if it is on the active branch of its conversation. */
    onActiveBranch: z.boolean(),
    /** Comparable within one search only. */
    score: z.number(),
  })
  .meta({ id: 'FoundPassage' });

export const storedMemory = z
  .object({
    id: z.string(),
    tenant: optionalText,
    scope: z.enum(['agent', 'user', 'workspace']),
    scopeName: z.string(),
    kind: z.enum(['fact', 'preference', 'decision', 'summary']),
    text: z.string(),
    origin: z.enum(['user', 'model']),
    conversationId: z.string().nullable(),
    user: z.string().nullable(),
    sourceId: z.string().nullable(),
    confidence: z.number(),
    supersededBy: z.string().nullable(),
    expiresAt: isoTime.nullable(),
    createdAt: isoTime,
  })
  .meta({ id: 'Memory' }) satisfies z.ZodType<StoredMemory>;

export const servedModel = z
  .object({
    model: z.string(),
    server: z.string(),
    window: nullableCount,
    maximumOutput: nullableCount,
    listedAt: isoTime,
  })
  .meta({ id: 'ServedModel' }) satisfies z.ZodType<ServedModel>;

export const providerPause = z
  .object({ provider: z.string(), since: isoTime, until: isoTime })
  .meta({ id: 'ProviderPause' }) satisfies z.ZodType<ProviderPause>;
