import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { isId } from '../store/database/ids.ts';
import { COUNTED_OF_CONVERSATION, isDivisible } from '../turn/spending.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { HoldfastClientError } from './errors.ts';

// What methods take. Types say it too, but not every caller has a compiler, and numbers come from outside.

export const text = z.string({ error: 'must be a text' });
/** An id or a key that is compared with stored ones. */
export const storable = text.refine((written) => !written.includes('\0'), { error: 'must be a text without NUL' });
export const named = text.refine((name) => name !== '' && name.length <= 200 && !name.includes('\0'), {
  error: 'must be a text of 1 to 200 characters without NUL',
});
/** Neither blank nor with what a text column of Postgres does not hold: half a surrogate pair would be another user's name. */
export const userName = text.refine((name) => name.length <= 200 && /\S/u.test(name) && !/[\p{Cc}\p{Cs}]/u.test(name), {
  error: 'must be a text of 1 to 200 characters, not blank and without control characters',
});
export const uuid = text.refine(isId, { error: 'must be a UUID' });
export const flag = z.boolean({ error: 'must be true or false' });
export const work = z.custom((value) => typeof value === 'function', { error: 'must be a function' });
const anyTime = z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()]);
/** Postgres has no year 0. */
export const time = text.refine((written) => anyTime.safeParse(written).success && !written.startsWith('0000'), {
  error: 'must be an ISO time, such as 2026-11-28T09:00:00Z',
});
export const absolutePath = text.refine(isAbsolute, { error: 'must be an absolute path' });

export function formed(pattern: RegExp, error: string): z.ZodType {
  return z.string({ error }).regex(pattern, { error });
}

/** What an integer column of Postgres holds. */
const LARGEST = 2_147_483_647;

export function whole(least: number): z.ZodType<number> {
  const error = `must be a whole number of ${least} or more`;
  return z
    .int({ error })
    .min(least, { error })
    .max(LARGEST, { error: `must be ${LARGEST} or less` });
}

export function numberOf(unit: string): z.ZodType<number> {
  const error = `must be a number of ${unit}`;
  return z.number({ error }).min(0, { error });
}

export function oneOf(...values: readonly string[]): z.ZodType {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/**
 * An object with these fields and no others: one that is misspelt is refused, and not left out in silence.
 * @param names of the fields that the refusal lists; default: all
 */
export function exactly<Shape extends z.ZodRawShape>(shape: Shape, names: readonly string[] = Object.keys(shape)) {
  const unknown = `is not accepted: there are ${names.join(', ') || 'none'}`;
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? unknown : undefined) });
}

/** Not by its class: a signal may come from another realm or library. */
export const signal = z.custom<AbortSignal>(
  (value) => typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
  { error: 'must be an AbortSignal' },
);

const part = z.discriminatedUnion(
  'type',
  [
    exactly({ type: z.literal('text'), text }),
    exactly({ type: z.literal('image'), data: text }),
    exactly({ type: z.literal('file'), mediaType: text, name: text, data: text }),
  ],
  {
    error: ({ code }) =>
      code === 'invalid_union' ? 'must be text, image or file' : 'must be an object whose type is text, image or file',
  },
);
const kindOfContent = 'must be a text, or a list of texts, images and files';
export const content = z.union([text, z.array(part)], { error: kindOfContent });

/** `data` in base64. What an image is, its size and the pages of a PDF are read from the bytes. */
export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly name: string; readonly data: string };

/**
 * Text, or text with images (PNG, JPEG, GIF, WebP) and files. A file of text (`text/*`, JSON, XML, YAML) is stored as text; a file of
 * another type than PDF is refused with `invalid_argument`.
 */
export type MessageContent = string | readonly MessagePart[];

/** Names a conversation. An id that is no UUID is as unknown as any other. */
export interface OfConversation {
  readonly conversationId: string;
}

export const ofConversation = { conversationId: text };

/** What every message and command has. */
export interface ToSend extends OfConversation {
  /** Chosen by the caller, 1 to 200 characters: what is sent twice to a conversation counts once. Default: a new UUID. */
  readonly messageId?: string;
}

export const toSend = { ...ofConversation, messageId: text.optional() };

/** What a conversation sets instead of its agent's own. */
export interface ConversationChoices {
  /** Name of an agent. Default: `default`. */
  readonly agent?: string;
  /** `provider/model`. Default: the agent's. */
  readonly model?: string;
  /** Name of a compaction preset. Default: the agent's. */
  readonly preset?: string;
  /** Absolute path on the workers. Default: the agent's. */
  readonly workspace?: string;
  /**
   * Selects the memories of scope `user` that the conversation reads and writes: 1 to 200 characters, no control characters. Default:
   * the agent's `memory.user`.
   */
  readonly user?: string;
}

export const conversationChoices = {
  agent: named.optional(),
  model: named.optional(),
  preset: named.optional(),
  workspace: absolutePath.optional(),
  user: userName.optional(),
};

interface ArgumentIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** `choice`: of a number, or of one of several values, so that the wrong value is no text of a person. */
  readonly kind: 'choice' | 'unknown_name' | 'other';
}

/** What is wrong with arguments: of a value that may be one of several kinds, with the kind that it is nearest to. */
export function issuesOf({ issues }: Pick<z.core.$ZodError, 'issues'>): readonly ArgumentIssue[] {
  return issues.flatMap((issue): readonly ArgumentIssue[] => {
    const { path, message } = issue;
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: [...path, key], message, kind: 'unknown_name' }));
    }
    const nearest =
      issue.code === 'invalid_union' ? issue.errors.find(([first]) => (first?.path.length ?? 0) > 0) : undefined;
    if (nearest === undefined) return [{ path, message, kind: isOfChoice(issue) ? 'choice' : 'other' }];
    return issuesOf({ issues: nearest }).map((inner) => ({
      path: [...path, ...inner.path],
      message: inner.message,
      kind: inner.kind,
    }));
  });
}

function isOfChoice(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_type') return issue.expected === 'number' || issue.expected === 'int';
  if (issue.code === 'too_small' || issue.code === 'too_big')
    return issue.origin === 'number' || issue.origin === 'int';
  return issue.code === 'invalid_value';
}

/** What follows the name of an argument that is refused. @param showsTexts whether wrong values that are no `choice` are shown too */
export function describeIssue({ path, message, kind }: ArgumentIssue, argument: unknown, showsTexts: boolean): string {
  if (kind === 'unknown_name') return message;
  const value = valueAt(argument, path);
  const requirement = message.startsWith('must ') ? `: it ${message}` : '';
  if (value === undefined) return `is missing${requirement}`;
  const shown = kind === 'choice' || showsTexts ? shownValue(path, value) : null;
  return shown === null || requirement === '' ? message : `is ${shown}${requirement}`;
}

/** @throws HoldfastClientError `invalid_argument` naming method, argument, the offending value and what it must be */
export function checkArguments(method: string, schema: z.ZodType, argument: unknown): void {
  const { error } = schema.safeParse(argument);
  const [issue] = error === undefined ? [] : issuesOf(error);
  if (issue === undefined) return;
  const name = issue.path.length === 0 ? 'its argument' : issue.path.map(String).join('.');
  throw new HoldfastClientError('invalid_argument', `${method}: ${name} ${describeIssue(issue, argument, true)}`);
}

/** Arguments of which nothing is shown: what people write, keys, and addresses with passwords. */
const NEVER_SHOWN = new Set([
  'task',
  'content',
  'text',
  'focus',
  'reason',
  'query',
  'databaseUrl',
  'listenUrl',
  'apiKey',
]);
const LONGEST_SHOWN = 60;

/** On one line, and cut; `null` for what must not be seen. */
function shownValue(path: readonly PropertyKey[], value: unknown): string | null {
  if (path.some((key) => NEVER_SHOWN.has(String(key)))) return null;
  if (typeof value === 'string') {
    return JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value);
  }
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? String(value) : null;
}

function valueAt(argument: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    argument,
  );
}

/** @throws HoldfastClientError `invalid_argument` for a limit that is none, and for a raise by nothing or by a part of one */
export function checkRaise(raise: Partial<ConversationCounts>): void {
  for (const [name, by] of Object.entries(raise)) {
    const known = COUNTED_OF_CONVERSATION.find((counted) => counted === name);
    if (known === undefined || !Number.isFinite(by) || by <= 0) {
      throw new HoldfastClientError(
        'invalid_argument',
        `a raise of ${name} by ${by} is not possible: raise ${COUNTED_OF_CONVERSATION.join(', ')} by more than 0`,
      );
    }
    if (!isDivisible(known) && !Number.isInteger(by)) {
      throw new HoldfastClientError(
        'invalid_argument',
        `a raise of ${name} by ${by} is not possible: they are counted in whole numbers`,
      );
    }
  }
}

/** @param pins how many there are */
export function noPin(pin: number, pins: number): HoldfastClientError {
  const numbers = Array.from({ length: pins }, (_, index) => index + 1).join(', ');
  return new HoldfastClientError(
    'invalid_argument',
    `there is no pin ${pin} ${pins === 0 ? '(nothing is pinned)' : `(there are: ${numbers})`}`,
    { next: '`npx holdfast pin <conversation>` lists the pins with their numbers.' },
  );
}
