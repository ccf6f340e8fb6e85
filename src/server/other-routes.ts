/** Routes that are no method of the client, or whose request or answer is no JSON. */
import type { Context } from 'hono';
import { z } from 'zod';
import { importedConversation } from '../client/api/conversation-results.ts';
import { liveText, timelineEvent } from '../client/api/log-results.ts';
import { flag, named, text, userName, whole } from '../client/arguments.ts';
import type { Holdfast } from '../client/holdfast.ts';
import type { Scope } from '../store/conversations/api-keys.ts';
import type { Admitted } from './admission.ts';
import { configuredAgent, configuredLink, configuredPreset } from './configured.ts';
import type { Configured, RequireAgent } from './configured.ts';
import type { ProblemCode } from './problem.ts';
import { cutOffStandstill } from './events.ts';
import type { EventStreams } from './events.ts';
import type { ServerLimits } from './limits.ts';
import { serveBytes, serveExport, serveImport } from './transfer.ts';

/** What a route serves with. */
export interface Served {
  readonly context: Context<Admitted>;
  /** Of the caller's tenant. */
  readonly client: Holdfast;
  readonly configured: Configured;
  readonly streams: EventStreams;
  readonly requireAgent: RequireAgent;
  readonly limits: ServerLimits;
}

export interface OtherRoute<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly method: 'get' | 'post';
  /** Below `/v1`, as OpenAPI writes it. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly description?: string;
  /** In path and query. */
  readonly arguments: Shape;
  /** Headers that it reads. */
  readonly headers?: z.ZodRawShape;
  /** Content type of its body. */
  readonly body?: string;
  /** Content type and schema. */
  readonly answer: readonly [type: string, schema: z.ZodType];
  /** Default: 200. */
  readonly status?: 201;
  /** As of an endpoint. */
  readonly refuses?: readonly ProblemCode[];
  serve(served: Served, given: z.output<z.ZodObject<Shape>>): Promise<Response> | Response;
}

function route<Shape extends z.ZodRawShape>(of: OtherRoute<Shape>): OtherRoute<Shape> {
  return of;
}

const LINES = 'application/x-ndjson';
const reads = { method: 'get', scope: 'read' } as const;

/** A list of the configuration, by its path. */
function listed(name: keyof Configured, summary: string, item: z.ZodType) {
  return route({
    ...reads,
    path: `/${name}`,
    summary,
    arguments: {},
    answer: ['application/json', z.object({ items: z.array(item) })],
    serve: ({ context, configured }) => context.json({ items: configured[name] }),
  });
}

export const OTHER_ROUTES = {
  'conversation.watch': route({
    ...reads,
    path: '/conversations/{conversationId}/events',
    summary: 'Follow the events of a conversation, and its live text',
    description:
      'Server-sent events: `timeline` with the number of the event as id, `live_text` without one, `error` with a problem before the stream ends. Last-Event-ID resumes without a gap.',
    arguments: { conversationId: text, afterSequence: whole(0).optional(), liveText: flag.optional() },
    headers: { 'Last-Event-ID': z.int() },
    answer: ['text/event-stream', z.union([timelineEvent, liveText])],
    refuses: ['too_many_watchers'],
    serve: ({ context, client, streams }, given) => streams.serve(context, client, given),
  }),
  'conversation.export': route({
    ...reads,
    path: '/conversations/{conversationId}/export',
    summary: 'Write a whole conversation',
    arguments: { conversationId: text },
    answer: [LINES, z.string()],
    refuses: ['conversation_busy', 'too_many_watchers'],
    serve({ context, client, limits, streams }, { conversationId }) {
      cutOffStandstill(context, limits);
      // The connection's end ends the transaction that is read from.
      const cutOff = (): void => void context.env.outgoing.destroy();
      streams.endingOf(context, 'export').signal.addEventListener('abort', cutOff);
      return serveExport(client, conversationId);
    },
  }),
  'conversation.import': route({
    method: 'post',
    path: '/conversations/import',
    scope: 'write',
    summary: 'Store a conversation as export wrote it',
    // An agent of the configuration, and nothing beyond it.
    arguments: { agent: named.optional(), user: userName.optional() },
    body: LINES,
    answer: ['application/json', importedConversation],
    status: 201,
    refuses: ['conversation_exists', 'conversation_file_invalid'],
    async serve({ context, client, requireAgent }, choices) {
      await requireAgent(choices.agent);
      return serveImport(context, client, choices);
    },
  }),
  'log.content': route({
    ...reads,
    path: '/entries/{entryId}/content',
    summary: 'Read the whole text of an entry, or the image or file that is part `part` of its content, from 0',
    arguments: { entryId: text, part: whole(0).optional() },
    headers: { Range: z.string() },
    answer: ['application/octet-stream', z.unknown()],
    refuses: ['range_refused'],
    serve: ({ context, client }, given) => serveBytes(context, client, given),
  }),
  'agents.list': listed('agents', 'List the agents of the configuration', configuredAgent),
  'links.list': listed('links', 'List other pages, such as those of Temporal', configuredLink),
  'presets.list': listed('presets', 'List the compaction presets', configuredPreset),
};
