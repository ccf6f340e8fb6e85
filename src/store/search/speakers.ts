import { headingOf, pastTimeOf } from './heading.ts';
import type { Candidate } from './candidate.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** Who says a passage, and to whom, as far as the query asks for them. */
export interface Said {
  /** By somebody whom the query names. */
  readonly isByAsked: boolean;
  /** In the first person, and nothing says by whom. */
  isByAnybody(): boolean;
  /** Names of the query, in lower case, that it only speaks to: "Thanks, Ada!" */
  readonly addressed: ReadonlySet<string>;
  /** Without its heading. */
  readonly text: string;
  readonly at: Date;
}

export type Speakers = (candidate: Candidate) => Said;

/** Turns that must speak to somebody by name before the other role is taken for theirs … */
const FEWEST_ADDRESSES = 2;
/** … and the share of them that one role has. */
const CLEAR_SHARE = 0.8;

const FIRST_PERSON = /\b(?:I|me|my|mine|we|us|our)\b/iu;
const GREETING =
  'hey|hi|hello|thanks|thank you|bye|wow|yeah|yes|yep|no|oh|aw+|haha|congrats|congratulations|sure|absolutely|totally|exactly|ok|okay|dear|sorry|great|good|cool|nice|well|so';

/** Characters beside a name that say whether it is spoken to; more than the longest greeting has. */
const AROUND_NAME = 24;
const GREETED = new RegExp(String.raw`\b(?:${GREETING}),? $`, 'iu');
const ENDED = /^\s*(?:[,!.?…]|$)/u;
const CALLED = /,\s?$/u;
const STOPPED = /^\s*[!.?…]/u;
const SENTENCE_BEGINS = /[.!?…]\s+$/u;
const SPOKEN_TO = /^[,!] (?:you|your|that|this|what|how|I|we|do|did|have|can|are)\b/iu;

/**
 * Tells who says each passage: by its heading, or, where there is none, by its role. Who is spoken to by name in the
 * turns of one role speaks in those of the other.
 */
export function speakersAmong(
  candidates: readonly Candidate[],
  { text: query, terms }: { readonly text: string; readonly terms: readonly WeightedTerm[] },
): Speakers {
  const names = namesOf(query, terms);
  const said = new Map<Candidate, Omit<Said, 'isByAsked'> & { readonly speaker: readonly string[] }>();
  for (const candidate of candidates) {
    const heading = headingOf(candidate.text);
    const { speaker, length } = heading;
    const text = length === 0 ? candidate.text : candidate.text.slice(length);
    const addressed = isTurn(candidate) ? names.filter((name) => addresses(text, asWritten(name))) : [];
    said.set(candidate, {
      speaker,
      text,
      at: pastTimeOf(heading, candidate.createdAt) ?? candidate.createdAt,
      addressed: new Set(addressed),
      isByAnybody: () => isTurn(candidate) && speaker.length === 0 && FIRST_PERSON.test(text),
    });
  }
  const asked = terms.filter(({ isStopWord }) => !isStopWord).map(({ word }) => word);
  const roles = rolesOf(names, said);
  return (candidate) => {
    const of = said.get(candidate);
    if (of === undefined) throw new RangeError('a passage that is no candidate has no speaker');
    const isByAsked =
      of.speaker.length > 0 ? asked.some((word) => of.speaker.includes(word)) : roles.has(candidate.kind);
    return { ...of, isByAsked };
  };
}

/** A name may begin the query, where any word has a capital. */
function namesOf(query: string, terms: readonly WeightedTerm[]): readonly string[] {
  const begins = /^\p{Lu}/u.test(query);
  const named = terms.filter(({ isName, position, isStopWord }) => isName || (begins && position === 1 && !isStopWord));
  return named.map(({ word }) => word).filter((word) => /^\p{L}+$/u.test(word));
}

function isTurn({ kind }: Candidate): boolean {
  return kind === 'user' || kind === 'assistant';
}

function asWritten(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** "Thanks, Ada!", "…, Ada?", "Ada, you …". Patterns without the name in them: compiling one for each name costs more than all else. */
function addresses(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const before = text.slice(Math.max(0, at - AROUND_NAME), at);
    const after = text.slice(at + name.length, at + name.length + AROUND_NAME);
    if (GREETED.test(before) && ENDED.test(after)) return true;
    if (CALLED.test(before) && STOPPED.test(after)) return true;
    if ((at === 0 || SENTENCE_BEGINS.test(before)) && SPOKEN_TO.test(after)) return true;
  }
  return false;
}

/** Roles whose turns are said by somebody whom the query names. */
function rolesOf(
  names: readonly string[],
  said: ReadonlyMap<Candidate, Pick<Said, 'addressed'> & { readonly speaker: readonly string[] }>,
): ReadonlySet<string> {
  const roles = new Set<string>();
  for (const name of names) {
    const to = { user: 0, assistant: 0 };
    for (const [{ kind }, { addressed, speaker }] of said) {
      if (speaker.length === 0 && addressed.has(name) && (kind === 'user' || kind === 'assistant')) to[kind] += 1;
    }
    const most = Math.max(to.user, to.assistant);
    if (most < FEWEST_ADDRESSES || most < CLEAR_SHARE * (to.user + to.assistant)) continue;
    roles.add(to.user > to.assistant ? 'assistant' : 'user');
  }
  return roles;
}
