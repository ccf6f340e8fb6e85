import type { z } from 'zod';
import type { ENDPOINTS } from '../../../../src/client/api/endpoints.ts';
import type { liveText, timelineEvent } from '../../../../src/client/api/log-results.ts';
import type { Problem } from './problem.ts';

type Endpoints = (typeof ENDPOINTS)[keyof typeof ENDPOINTS];
export type Method = 'get' | 'post' | 'delete';

/** Paths of the API that have a method. */
export type PathOf<M extends Method> = Extract<Endpoints, { method: M }>['path'];

/** As the server wraps what is no object. */
type Wrapped<Result> = Result extends readonly unknown[]
  ? { readonly items: Result }
  : Result extends object
    ? Result
    : { readonly value: Result };

/** What a method of a path answers. */
export type AnswerOf<M extends Method, Path extends PathOf<M>> = Wrapped<
  z.output<Extract<Endpoints, { method: M; path: Path }>['result']>
>;

export type Conversation = AnswerOf<'get', '/conversations/{conversationId}'>;
export type Turn = NonNullable<Conversation['turn']>;
export type WaitingCall = AnswerOf<'get', '/decisions'>['items'][number];
export type DecidedCall = AnswerOf<'get', '/decisions/made'>['items'][number];
export type Entry = AnswerOf<'get', '/conversations/{conversationId}/entries'>['items'][number];
export type Part = Entry['content'][number];
export type ToolCall = Extract<Part, { type: 'tool_call' }>;
export type Summary = AnswerOf<'get', '/conversations/{conversationId}/summaries'>['items'][number];
export type Lineage = AnswerOf<'get', '/conversations/{conversationId}/lineage'>['items'][number];
export type ModelCall = AnswerOf<'get', '/conversations/{conversationId}/model-calls'>['items'][number];
export type PastView = AnswerOf<'get', '/conversations/{conversationId}/view'>;
export type TimelineEvent = z.output<typeof timelineEvent>;
export type LiveText = z.output<typeof liveText>;
export type ContextReport = AnswerOf<'get', '/conversations/{conversationId}/context'>;
export type SummaryAudit = AnswerOf<'get', '/conversations/{conversationId}/audit'>;
export type FoundPassage = AnswerOf<'post', '/search'>['items'][number];

/** What a page learns of a conversation that it follows. */
export type Update =
  | { readonly type: 'event'; readonly event: TimelineEvent }
  | { readonly type: 'live_text'; readonly text: LiveText }
  | { readonly type: 'connected' }
  | { readonly type: 'lost'; readonly problem: Problem };
