import { z } from 'zod';
import type { CompactionLineage } from '../../store/compactions/summaries.ts';
import type { SummaryAudit } from '../../verify/audit/audit-summaries.ts';
import { FACT_KINDS } from '../../verify/audit/facts.ts';
import { isoTime, listOf } from './conversation-results.ts';

const count = z.int();
const nullableCount = count.nullable();

export const storedSummary = z
  .object({
    compactionId: z.string(),
    /** 1 for the first of the conversation. */
    generation: count,
    trigger: z.enum(['threshold', 'overflow', 'manual', 'maintenance']),
    preset: z.string(),
    form: z.string(),
    /** Branch on which it was made. */
    branch: count,
    /** The model sees this summary on the active branch. */
    inForce: z.boolean(),
    /** The generation whose summary it updates, or `null`. */
    updatesGeneration: nullableCount,
    tokensBefore: count,
    tokensAfter: count,
    /** Last entry that the summary covers. `null`: no summary was needed. */
    coveredThroughSequence: nullableCount,
    /** Entries of its branch up to there. */
    entriesCovered: count,
    /** First entry kept verbatim. */
    firstKeptSequence: nullableCount,
    /** Entries that were clipped, cleared or stripped. */
    operations: count,
    /** Forms that were tried, this one included. */
    tries: count,
    /** `provider/model` that wrote the summary; `null` without a model. */
    model: z.string().nullable(),
    /** Calls that were paid, over all tries. */
    modelCalls: count,
    /** Dollars of these calls; `null` when a price is unknown. */
    cost: z.number().nullable(),
    /** Input tokens of the calls of the form that was committed, and of them those read from the provider's cache. */
    inputTokens: count,
    cacheReadTokens: count,
    /** `null`: no summary was needed. */
    text: z.string().nullable(),
    /** The text by its sections. `open`: lists show it unfolded. */
    sections: listOf(z.object({ title: z.string(), text: z.string(), open: z.boolean() })),
    createdAt: isoTime,
    durationMilliseconds: z.number(),
  })
  .meta({ id: 'Summary' });

export const summaryDifference = z
  .object({
    older: storedSummary,
    newer: storedSummary,
    /** In order; each may hold several lines. */
    changes: listOf(z.object({ kind: z.enum(['equal', 'added', 'removed']), text: z.string() })),
  })
  .meta({ id: 'SummaryDifference' });

const coveredEntry = { sequence: count, entryId: z.string() };

export const compactionLineage = z
  .object({
    compactionId: z.string(),
    number: count,
    previousCompactionId: z.string().nullable(),
    parts: listOf(
      z.object({
        number: count,
        kind: z.enum(['history', 'turn_prefix', 'merge', 'flush', 'branch']),
        promptVersion: z.string().nullable(),
        entries: listOf(z.object(coveredEntry)),
      }),
    ),
    changes: listOf(
      z.object({
        ...coveredEntry,
        toolName: z.string().nullable(),
        method: z.enum(['clip', 'clear', 'strip']),
        charactersBefore: count,
        charactersAfter: count,
      }),
    ),
  })
  .meta({ id: 'CompactionLineage' }) satisfies z.ZodType<CompactionLineage>;

export const summaryAudit = z
  .object({
    conversationId: z.string(),
    /** The compaction whose summary is in force; `null` when there is none. */
    compactionId: z.string().nullable(),
    /** Entries that left the window. */
    droppedEntries: count,
    /** Entries that the window shows shorter. */
    shortenedEntries: count,
    /** Facts in the originals of both. */
    facts: count,
    /** Those of them that are in the summary. */
    carried: count,
    /** Of the others, those that are elsewhere in the window. */
    shown: count,
    /** Facts that left the window, in order of appearance. `found`: one search finds it. `null`: not searched for. */
    missing: listOf(
      z.object({
        kind: z.enum(FACT_KINDS),
        text: z.string(),
        entryId: z.string(),
        sequence: count,
        found: z.boolean().nullable(),
      }),
    ),
    askedFor: count,
    found: count,
  })
  .meta({ id: 'SummaryAudit' }) satisfies z.ZodType<SummaryAudit>;
