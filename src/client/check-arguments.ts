import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { isId } from '../store/database/ids.ts';
import { HoldfastClientError } from './errors.ts';

const text = z.string({ error: 'must be a text' });
const named = text.refine((name) => name !== '' && name.length <= 200 && !name.includes('\0'), {
  error: 'must be a text of 1 to 200 characters without NUL',
});
/** Neither blank nor with what a text column of Postgres does not hold: half a surrogate pair would be another user's name. */
const userName = text.refine((name) => name.length <= 200 && /\S/u.test(name) && !/[\p{Cc}\p{Cs}]/u.test(name), {
  error: 'must be a text of 1 to 200 characters, not blank and without control characters',
});
const uuid = text.refine(isId, { error: 'must be a UUID' });
const flag = z.boolean({ error: 'must be true or false' });
const work = z.custom((value) => typeof value === 'function', { error: 'must be a function' });
const time = text.refine((written) => !Number.isNaN(Date.parse(written)), { error: 'must be an ISO time' });

function formed(pattern: RegExp, error: string): z.ZodType {
  return z.string({ error }).regex(pattern, { error });
}

function whole(least: number): z.ZodType {
  const error = `must be a whole number of ${least} or more`;
  return z.int({ error }).min(least, { error });
}

function oneOf(...values: readonly string[]): z.ZodType {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/** Not by its class: a signal may come from another realm or library. */
const signal = z.custom<AbortSignal>(
  (value) => typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
  { error: 'must be an AbortSignal' },
);

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('image'), mediaType: text, data: text, width: z.number(), height: z.number() }),
  z.object({ type: z.literal('file'), mediaType: text, name: text, data: text, pages: z.number() }),
]);
const content = z.union([text, z.array(part)], { error: 'must be a text, or a list of texts, images and files' });

/** Ids of conversations that are only looked up: one that is no UUID is as unknown as any other. */
const ofConversation = { conversationId: text };
const toSend = { ...ofConversation, messageId: text.optional() };
const toDecide = { ...ofConversation, call: text.optional(), decisionId: text.optional() };
const toJudge = z.object({ ...toDecide, for: oneOf('call', 'turn', 'agent').optional(), reason: text.optional() });
const address = z.object({
  turn: whole(1).optional(),
  callNumber: whole(1).optional(),
  attempt: whole(1).optional(),
});
const kinds = oneOf('user', 'assistant', 'tool_result', 'note', 'branch_summary', 'summary');
const search = z
  .object({
    conversationId: text.optional(),
    agent: text.optional(),
    query: text,
    limit: whole(1).optional(),
    kinds: z.array(kinds, { error: 'must be a list' }).optional(),
    after: time.optional(),
    before: time.optional(),
    askedAt: time.optional(),
  })
  .refine(({ conversationId, agent }) => (conversationId === undefined) !== (agent === undefined), {
    error: 'must name a conversationId or an agent, and not both',
  });

const absolutePath = text.refine(isAbsolute, { error: 'must be an absolute path' });

const ofNewConversation = {
  agent: named.optional(),
  model: named.optional(),
  preset: named.optional(),
  workspace: absolutePath.optional(),
  user: userName.optional(),
};

/** What each method takes. Types say it too, but not every caller has a compiler, and numbers come from outside. */
const ARGUMENTS = {
  startTask: z.object({
    task: content,
    ...ofNewConversation,
    startKey: text.optional(),
  }),
  sendMessage: z.object({ ...toSend, content, mode: oneOf('steer', 'queue').optional() }),
  stop: z.object(toSend),
  requestCompaction: z.object({ ...toSend, focus: text.optional() }),
  resume: z.object({ ...toSend, raise: z.record(z.string(), z.number({ error: 'must be a number' })).optional() }),
  listBranches: text,
  getActiveBranch: text,
  fork: z.object({ ...toSend, entryId: uuid.nullable(), summarize: flag.optional() }),
  switchBranch: z.object({ ...toSend, branch: whole(0), summarize: flag.optional() }),
  regenerate: z.object({ ...toSend, entryId: text.optional(), summarize: flag.optional() }),
  edit: z.object({ ...toSend, entryId: text, content, summarize: flag.optional() }),
  approve: toJudge,
  deny: toJudge,
  answer: z.object({ ...toDecide, text }),
  endStandingApproval: z.object({ agent: text, rule: text }),
  getConversation: text,
  isTurnLost: text,
  listConversations: z.object({ limit: whole(1).optional(), before: text.optional() }).optional(),
  listEntries: z.object({
    ...ofConversation,
    afterSequence: whole(0).optional(),
    beforeSequence: whole(1).optional(),
    limit: whole(1).optional(),
  }),
  findEntryId: z.object({ ...ofConversation, sequence: whole(0) }),
  countEntries: z.object({ ...ofConversation, beforeSequence: whole(1).optional() }),
  listEntriesAround: z.object({ entryId: text, count: whole(0) }),
  listSummaries: z.object({ ...ofConversation, query: text.optional() }),
  readLineage: text,
  searchMemory: search,
  countUnindexed: z.object({ conversationId: text.optional(), agent: text.optional() }),
  reindex: z.object({ conversationId: text.optional(), signal: signal.optional(), onProgress: work.optional() }),
  openEntry: text,
  getContext: text,
  getView: z.object({ ...ofConversation, at: address.optional() }),
  listModelCalls: z.object({ ...ofConversation, limit: whole(1).optional() }),
  listCosts: z.object({
    by: oneOf('agent', 'model', 'conversation', 'turn', 'step'),
    since: z.date({ error: 'must be a Date' }).optional(),
    conversationId: text.optional(),
  }),
  storeServedModel: z.object({}),
  endProviderPause: z.object({ provider: named }),
  listLearnedWindows: z.object({ days: z.number({ error: 'must be a number of days' }).min(0) }),
  exportConversation: z.object({ ...ofConversation, write: work }),
  importConversation: z.object({
    ...ofNewConversation,
    memoriesOf: z.object({ workspace: absolutePath.optional(), user: userName.optional() }).optional(),
    lines: z.custom((value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value, {
      error: 'must be an AsyncIterable',
    }),
  }),
  deleteConversation: text,
  watch: z.object({
    ...ofConversation,
    afterSequence: whole(0).optional(),
    liveText: flag.optional(),
    signal: signal.optional(),
  }),
  waitForOutcome: z.object({
    ...ofConversation,
    messageId: text,
    timeoutMilliseconds: z.number({ error: 'must be a number of milliseconds' }).min(0).optional(),
    signal: signal.optional(),
  }),
  createClient: z.object({
    // The value is never shown: it may hold a password.
    databaseUrl: formed(/^postgres(?:ql)?:\/\/\S+$/u, 'must be an address that begins with postgres://').optional(),
    temporal: z
      .object({
        address: formed(/^\S+:\d{1,5}$/u, 'must be host:port'),
        namespace: text.optional(),
      })
      .optional(),
    taskQueue: named.optional(),
    tenant: named.optional(),
    onDoorbellFailure: work.optional(),
  }),
} satisfies Readonly<Record<string, z.ZodType>>;

export type CheckedMethod = keyof typeof ARGUMENTS;

/** @throws HoldfastClientError `invalid_argument` naming method, argument, the offending value and what it must be */
export function checkArgument(method: CheckedMethod, argument: unknown): void {
  const { error } = ARGUMENTS[method].safeParse(argument);
  const issue = error?.issues[0];
  if (issue === undefined) return;
  const { path, message } = issue;
  const name = path.length === 0 ? 'its argument' : path.map(String).join('.');
  const value = shownValue(path, valueAt(argument, path));
  throw new HoldfastClientError(
    'invalid_argument',
    `${method}: ${name} ${value === null ? '' : `is ${value}: it `}${message}`,
  );
}

/** Arguments of which nothing is shown: what people write, and addresses with passwords. */
const NEVER_SHOWN = new Set(['task', 'content', 'text', 'focus', 'reason', 'query', 'databaseUrl']);
const LONGEST_SHOWN = 60;

/** `null` for what would fill a page, or must not be seen. */
function shownValue(path: readonly PropertyKey[], value: unknown): string | null {
  if (path.some((key) => NEVER_SHOWN.has(String(key)))) return null;
  if (typeof value === 'string') return value.length > LONGEST_SHOWN ? null : JSON.stringify(value);
  if (value === undefined) return 'missing';
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? String(value) : null;
}

function valueAt(argument: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    argument,
  );
}
