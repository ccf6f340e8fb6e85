import { z } from 'zod';
import type { AnswerForm } from '../turn/agent-snapshot.ts';
import { HoldfastClientError } from './errors.ts';

const ERROR = 'must be the JSON Schema of an object';

/** The form of a final answer as a program gives it: a zod object, or the JSON Schema of an object. */
export type GivenForm<Output = unknown> = z.ZodType<Output> | AnswerForm;

const json = z.record(z.string(), z.unknown(), { error: ERROR });

/** A form as it comes over HTTP. */
export const jsonForm = json.refine(isOfObject, { error: ERROR });

export const givenForm = z.custom<GivenForm>(isOfObject, {
  error: 'must be a zod object or the JSON Schema of an object',
});

/** Whether answers can be checked with it. */
function isOfObject(form: unknown): boolean {
  try {
    return z.fromJSONSchema(schemaOf(form instanceof z.ZodType ? form : json.parse(form))) instanceof z.ZodObject;
  } catch {
    return false;
  }
}

/** As it is sent and stored. */
export function schemaOf(form: GivenForm): AnswerForm {
  return form instanceof z.ZodType ? z.toJSONSchema(form) : form;
}

/** What answers are checked with. */
export function checkOf(form: GivenForm): z.ZodType {
  return form instanceof z.ZodType ? form : z.fromJSONSchema(form);
}

export function steersWithForm(): HoldfastClientError {
  return new HoldfastClientError(
    'invalid_argument',
    'conversation.send: a message that steers a running turn has no output of its own',
    { next: 'Leave `mode` out or make it `queue`: the answer of the next turn then has the form.' },
  );
}
