import type { ContentPart } from '../../context/log/content.ts';
import type { Entry } from '../../context/log/entry.ts';
import { parseNestedJson } from '../../context/log/nested-json.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';
import { readOriginals } from '../../store/compactions/compaction-parts.ts';
import type { CallRange } from '../../store/compactions/previous-summary.ts';
import type { Database, Queries } from '../../store/database/database.ts';
import { entryTexts } from '../../store/log/entry-text.ts';
import { readSaidWords } from '../../store/memory/said-words.ts';
import { countRedacted, redactTexts, redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { withoutSecrets, restatedSecrets } from '../../tools/runtime/restated-secrets.ts';

/** Entries as what is written from them may quote them. */
interface RedactedOriginals {
  readonly entries: readonly Entry[];
  /** Secrets that were left out of them. */
  readonly count: number;
}

/**
 * Originals without secrets, before anything is cut out of them: of the half of a token, or of a connection string without its
 * end, nothing tells any more what it is a part of (R28).
 * @param knownIn what stands in a text and is known as a secret by what stands beside it elsewhere
 */
export async function redactedOriginals(
  originals: readonly Entry[],
  knownIn: (text: string) => Promise<ReadonlySet<string>>,
): Promise<RedactedOriginals> {
  const inside = await mapTexts(originals, stringsInside, async (texts) => redactTexts(texts));
  // The name of an argument may tell what its value is.
  const whole = await mapTexts(inside.entries, asWritten, async (texts) => redactTexts(texts));
  const restated = await mapTexts(whole.entries, asWritten, async (texts) => {
    const together = texts.join('\n');
    const known = together.trim() === '' ? NONE : await knownIn(together);
    const without = texts.map((text) => withoutSecrets(text, known));
    return { texts: without.map(({ text }) => text), count: without.reduce((sum, { count }) => sum + count, 0) };
  });
  return { entries: restated.entries, count: inside.count + whole.count + restated.count };
}

/** How many of the secrets that were left out of the originals a text tells of, besides what another one did already. */
export function secretsLeftOut(
  text: string,
  { of, already }: { readonly of: number; readonly already: string },
): number {
  return Math.min(of, Math.max(0, countRedacted(text) - countRedacted(already)));
}

const NONE: ReadonlySet<string> = new Set();

/** Texts of a part, and how the part is made of others in their place. */
interface PartTexts {
  readonly texts: readonly string[];
  readonly remade: (texts: readonly string[]) => ContentPart;
}

type Mapped = { readonly texts: readonly string[]; readonly count: number };

async function mapTexts(
  entries: readonly Entry[],
  textsOf: (part: ContentPart) => PartTexts | null,
  map: (texts: readonly string[]) => Promise<Mapped>,
): Promise<RedactedOriginals> {
  const found = entries.map(({ content }) => content.map(textsOf));
  const texts = found.flatMap((parts) => parts.flatMap((part) => part?.texts ?? []));
  const mapped = await map(texts);
  if (mapped.count === 0) return { entries, count: 0 };
  let next = 0;
  const remade = entries.map((entry, index) => {
    const content = entry.content.map((part, place) => {
      const read = found[index]?.[place] ?? null;
      if (read === null) return part;
      const replaced = mapped.texts.slice(next, next + read.texts.length);
      next += read.texts.length;
      return replaced.every((text, at) => text === read.texts[at]) ? part : read.remade(replaced);
    });
    return { ...entry, content };
  });
  return { entries: remade, count: mapped.count };
}

function asWritten(part: ContentPart): PartTexts | null {
  if (part.type === 'text') return { texts: [part.text], remade: ([text = '']) => ({ ...part, text }) };
  if (part.type !== 'tool_call') return null;
  return { texts: [part.arguments], remade: ([text = '']) => ({ ...part, arguments: text }) };
}

/** Of arguments, the strings behind their escapes: they stay JSON, in which files are looked for. */
function stringsInside(part: ContentPart): PartTexts | null {
  if (part.type !== 'tool_call') return asWritten(part);
  const value = parseNestedJson(part.arguments);
  if (value === undefined) return null;
  const texts: string[] = [];
  mapStrings(value, (text) => {
    texts.push(text);
    return text;
  });
  return {
    texts,
    remade: (replaced) => {
      const rest = replaced.values();
      return { ...part, arguments: JSON.stringify(mapStrings(value, (text) => rest.next().value ?? text)) };
    },
  };
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, map)]));
}

/**
 * A request for a summary without secrets of well-known forms: originals, earlier summaries, focus and lines of hooks stand in
 * texts of its messages (R28).
 */
export async function redactedView(view: View): Promise<{
  readonly view: View;
  /** Secrets that were left out. */
  readonly redacted: number;
}> {
  let redacted = 0;
  const messages: ViewMessage[] = [];
  for (const message of view.messages) {
    if (message.role === 'tool_results') {
      messages.push(message);
      continue;
    }
    const content: ContentPart[] = [];
    for (const part of message.content) {
      const found = part.type === 'text' ? await redactSecrets(part.text) : null;
      redacted += found?.count ?? 0;
      content.push(found === null ? part : { type: 'text', text: found.text });
    }
    messages.push({ ...message, content });
  }
  return { view: { ...view, messages }, redacted };
}

/** Characters of each side that are looked through, the newest: some four million tokens, a third of a second. */
const MOST_CHARACTERS = 16_000_000;

/**
 * A text that is to outlive its conversation, without what redaction takes out of what was said there: "the password is …" has no
 * form by itself.
 */
export async function withoutSaidSecrets(sql: Queries, conversationId: string, text: string): Promise<string> {
  return withoutSecrets(text, await saidSecrets(sql, conversationId, text)).text;
}

/** What stands in a text and is known as a secret by what stands beside it anywhere in the conversation. */
export async function saidSecrets(sql: Queries, conversationId: string, text: string): Promise<ReadonlySet<string>> {
  const values = new Set<string>();
  for (const whose of ['user', 'tools', 'model'] as const) {
    let left = MOST_CHARACTERS;
    for await (const page of readSaidWords(sql, conversationId, whose)) {
      if (left <= 0) break;
      const texts = page.map(({ text: said }) => said);
      for (const value of await restatedSecrets(text, texts)) values.add(value);
      left -= texts.reduce((sum, { length }) => sum + length, 0);
    }
  }
  return values;
}

/** What stands in a text and is known as a secret by what stands beside it in these entries. */
export async function secretsOfEntries(
  text: string,
  pages: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
): Promise<ReadonlySet<string>> {
  const values = new Set<string>();
  for await (const page of pages) {
    const texts = page.flatMap(({ content }) => entryTexts(content));
    for (const value of await restatedSecrets(text, texts)) values.add(value);
  }
  return values;
}

/** Where the policy makes memories of summaries: a memory outlives its conversation, and a secret may have been told long before what is summarized. */
export function outlivesConversation({ summary }: CompactionPolicy): boolean {
  return summary.memory !== null;
}

/** Whole texts of a stretch of a conversation without secrets: what is cut out of them afterwards holds no part of one. */
export async function withoutAnySecrets(
  sql: Database,
  range: CallRange,
  { policy, texts }: { readonly policy: CompactionPolicy; readonly texts: readonly string[] },
): Promise<readonly string[]> {
  const { texts: redacted } = await redactTexts(texts);
  const together = redacted.join('\n');
  if (together.trim() === '') return redacted;
  const known = outlivesConversation(policy)
    ? await saidSecrets(sql, range.conversationId, together)
    : await secretsOfEntries(together, readOriginals(sql, range));
  return redacted.map((text) => withoutSecrets(text, known).text);
}
