import {
  FUNCTION_WORDS,
  DETERMINERS,
  HEAD_VERBS,
  BEFORE_HEAD_VERBS,
  USES,
  ARTICLES,
  PARTICLES,
  REPLACEMENTS,
  PURPOSES,
  JOINS,
  DESTINATIONS,
  verbAt,
  isTelling,
} from './kinds-of-words.ts';

/** No thing has such a name but what it is to be. */
const VALUE = /[\p{L}\p{N}][./_:][\p{L}\p{N}]/u;

/**
 * "Move the release (to 10 May)"; where that is no thing, what it is for: "use tabs for indentation", "switch to spaces for indentation".
 * `null`: it is told as no order.
 */
export function orderedObject(tokens: readonly string[]): readonly string[] | null {
  const at = headVerbAt(tokens);
  if (at < 0) return null;
  const [verb = '', next = '', ...others] = tokens.slice(at);
  const rest = PARTICLES.has(next) ? others : [next, ...others];
  const object = untilEnd(rest);
  // "Push notifications are …"
  if (verbAt(object) >= 0) return null;
  if (object.length > 0 && !USES.has(verb) && !USES.has(object[0] ?? '')) return object;
  const purpose = rest.findIndex((token) => PURPOSES.has(token));
  return purpose < 0 ? [] : untilEnd(rest.slice(purpose + 1));
}

/** The place of the verb that an order begins with, behind "please" and the like; -1: there is none. */
export function headVerbAt(tokens: readonly string[]): number {
  const at = tokens.findIndex((token) => !BEFORE_HEAD_VERBS.has(token));
  const [verb = '', next = ''] = tokens.slice(Math.max(0, at), at + 2);
  const isHead = HEAD_VERBS.has(verb) ? next !== 'of' : isTelling(verb) && ARTICLES.has(next);
  return isHead ? at : -1;
}

/** The thing that they begin with, with what hangs on it. */
function untilEnd(tokens: readonly string[]): readonly string[] {
  const ends = tokens.flatMap((token, at) => (endsObject(token) ? [at] : []));
  // "Mude a reunião para …": an article.
  const end = ends[0] === 0 && DETERMINERS.has(tokens[0] ?? '') ? ends[1] : ends[0];
  return tokens.slice(0, end);
}

function endsObject(token: string): boolean {
  if (VALUE.test(token) || DESTINATIONS.has(token) || REPLACEMENTS.has(token)) return true;
  return FUNCTION_WORDS.has(token) && !DETERMINERS.has(token) && !JOINS.has(token);
}
