import { z } from 'zod';
import type { ContentPart } from '../../context/log/content.ts';
import type { BranchRow } from '../../store/conversations/branches.ts';
import { isoTime, listOf, windowBreakdown, windowFill } from './conversation-results.ts';

// What the client answers about what a conversation holds.

const count = z.int();
const optionalText = z.string().exactOptional();
const nullableCount = count.nullable();

const citation = z.object({ from: count, to: count, source: z.record(z.string(), z.unknown()) });

export const contentPart = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string(), citations: listOf(citation).exactOptional() }),
    z.object({
      type: z.literal('thinking'),
      text: z.string(),
      provider: z.string(),
      signature: optionalText,
      encrypted: optionalText,
    }),
    z.object({
      type: z.literal('image'),
      mediaType: z.string(),
      /** Base64. */
      data: z.string(),
      width: z.number(),
      height: z.number(),
    }),
    z.object({
      type: z.literal('file'),
      mediaType: z.string(),
      name: z.string(),
      /** Base64. */
      data: z.string(),
      pages: z.number(),
    }),
    z.object({
      type: z.literal('tool_call'),
      index: count,
      id: z.string(),
      name: z.string(),
      /** As the model wrote it, valid JSON or not. */
      arguments: z.string(),
    }),
  ])
  .meta({ id: 'ContentPart' }) satisfies z.ZodType<ContentPart>;

/** Typed by name: the types of answers then say `ContentPart`. */
export const content: z.ZodType<readonly ContentPart[]> = listOf(contentPart);

export const lateResult = z.object({
  /** From 1. */
  attempt: count,
  workerIdentity: z.string(),
  isError: z.boolean(),
  content,
  receivedAt: isoTime,
});

const entryFields = {
  entryId: z.string(),
  sequence: count,
  kind: z.enum(['user', 'assistant', 'tool_result', 'compaction', 'branch_summary', 'note']),
  slot: z.string().nullable(),
  turnId: z.string(),
  callNumber: nullableCount,
  callIndex: nullableCount,
  toolName: z.string().nullable(),
  isError: z.boolean(),
  createdAt: isoTime,
  content,
  /** Bytes of the original when `content` shows less. */
  originalBytes: nullableCount,
  /** Markers: the compaction that was committed there. */
  compactionId: z.string().nullable(),
  /** Tool results: late reports of replaced attempts. The model does not see them. */
  lateResults: listOf(lateResult),
};

export const listedEntry = z.object(entryFields).meta({ id: 'Entry' });

/** An entry, or a summary by the id of its compaction. */
export const openedEntry = z
  .object({
    ...entryFields,
    /** `summary`: the id was that of a compaction. Sequence and turn are then those of its marker. */
    kind: z.enum([...entryFields.kind.options, 'summary']),
    conversationId: z.string(),
  })
  .meta({ id: 'OpenedEntry' });

export const contextReport = windowBreakdown
  .extend({ model: z.string(), preset: z.string(), trigger: z.number(), target: z.number() })
  .meta({ id: 'ContextReport' });

export const pastCall = z
  .object({
    turn: count,
    turnId: z.string(),
    callNumber: count,
    attempt: count,
    model: z.string(),
    /** `registered`: it runs, or its worker died and nobody knows whether the call was paid. */
    state: z.enum(['registered', 'answered', 'failed']),
    /** Newest entry that the request showed. */
    headEntryId: z.string(),
    estimatedTokens: count,
    /** The estimate by kind of content; `null` for a call that was imported. */
    fill: windowFill.nullable(),
    /** Input tokens that the provider reported, cached ones included; `null` when it reported none. */
    reportedTokens: nullableCount,
    /** Of them, read from the provider's cache. */
    cacheReadTokens: nullableCount,
    /** Dollars; `null` when unknown. */
    cost: z.number().nullable(),
    /** Why it failed, such as `overflow` or `rate_limited`. */
    failure: z.string().nullable(),
    startedAt: isoTime,
  })
  .meta({ id: 'ModelCall' });

const viewMessage = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content, origin: z.enum(['user', 'summary', 'note', 'runtime']) }),
  z.object({ role: z.literal('assistant'), content, callNumber: count, turnId: z.string() }),
  z.object({
    role: z.literal('tool_results'),
    results: listOf(z.object({ id: z.string(), name: z.string(), isError: z.boolean(), content })),
  }),
]);

export const pastView = z
  .object({
    call: pastCall,
    view: z.object({
      system: z.string(),
      tools: listOf(
        z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
      ),
      messages: listOf(viewMessage),
    }),
    /** Half of the SHA-256 of the rebuilt view. Equal to `sentFingerprint`: it is the view that was sent, byte for byte. */
    fingerprint: z.string(),
    sentFingerprint: z.string(),
    /** Version of the code that rendered this view. Another version than `sentRendererVersion` may render differently. */
    rendererVersion: count,
    sentRendererVersion: count,
  })
  .meta({ id: 'PastView' });

export const branch = z
  .object({
    branch: count,
    active: z.boolean(),
    forkedFrom: nullableCount,
    forkedAtSequence: nullableCount,
    entries: count,
    headEntryId: z.string().nullable(),
    title: z.string(),
    activeAt: isoTime.nullable(),
  })
  .meta({ id: 'Branch' }) satisfies z.ZodType<BranchRow>;

/** One event of the timeline: `kind` tells what its `data` holds. */
export const timelineEvent = z
  .object({
    /** Order within the conversation, from 1, without gaps. */
    sequence: count,
    kind: z.string(),
    turnId: z.string().nullable(),
    createdAt: isoTime,
    /** Ids, names, counts and flags, never message text. */
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'TimelineEvent' });

/** One piece of live text. Not stored: a reader that misses one reads the entry when it is there. */
export const liveText = z
  .object({
    turnId: z.string(),
    callNumber: count,
    /** A higher attempt supersedes what a lower one has sent. */
    attempt: count,
    /** `tool_call`: the arguments of a call, JSON that is not yet complete. */
    kind: z.enum(['text', 'thinking', 'tool_call']),
    callIndex: count.exactOptional(),
    toolName: optionalText,
    /** Characters of this kind, or of this tool call, that came before. A jump is a gap. */
    offset: count,
    text: z.string(),
  })
  .meta({ id: 'LiveText' });
