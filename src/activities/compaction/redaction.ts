import type { ContentPart } from '../../context/log/content.ts';
import type { Entry } from '../../context/log/entry.ts';
import { parseNestedJson } from '../../context/log/nested-json.ts';
import { redactTexts } from '../../tools/runtime/redact-secrets.ts';

/** Entries without the secrets that a text could quote. */
interface RedactedOriginals {
  readonly entries: readonly Entry[];
  /** Number of removed secrets. */
  readonly count: number;
}

/**
 * Originals without secrets, before anything is cut out of them: half a token, or a connection string without its end, no longer shows
 * that it is a secret (R28).
 */
export async function redactedOriginals(originals: readonly Entry[]): Promise<RedactedOriginals> {
  const inside = await mapTexts(originals, stringsInside);
  // The name of an argument may show that its value is a secret.
  const whole = await mapTexts(inside.entries, asWritten);
  return { entries: whole.entries, count: inside.count + whole.count };
}

/** The texts of a part, and a function that makes the part with other texts. */
interface PartTexts {
  readonly texts: readonly string[];
  readonly remade: (texts: readonly string[]) => ContentPart;
}

async function mapTexts(
  entries: readonly Entry[],
  textsOf: (part: ContentPart) => PartTexts | null,
): Promise<RedactedOriginals> {
  const found = entries.map(({ content }) => content.map(textsOf));
  const texts = found.flatMap((parts) => parts.flatMap((part) => part?.texts ?? []));
  const mapped = await redactTexts(texts);
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

/** The strings inside JSON arguments, so that the result stays JSON, in which files are looked for. */
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
