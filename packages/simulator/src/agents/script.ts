/** One answer of a scripted agent. */
export type ScriptStep =
  | {
      readonly kind: 'call';
      readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
    }
  | { readonly kind: 'say'; readonly text: string };

const CALL = /\b(?:call|and) `?([A-Za-z0-9_-]{1,128})`? with (?=\{)/iy;
const STARTS =
  /^[ \t]*(?:(?:[-*]|\d+[.)])[ \t]+)?(?:then |finally |first |next )*(call(?= `?[\w-]+`? with \{)|say|write)\b/i;
const REPEAT = /^\s*,?\s*(\d{1,6}) times(?:,?\s*(one by one|one after another|in sequence))?/i;

/** Words that "Write 500 words" draws from: short ones, about one token each. */
const FILLER = ['the', 'turn', 'goes', 'on', 'and', 'each', 'step', 'adds', 'a', 'line', 'to', 'its', 'log'];

/** What a call without arguments that can be read is answered with. */
const UNREADABLE =
  'The arguments behind `with` are no JSON object: put names and texts in double quotes, as in {"path": "README.md"}.';

/** Stands in arguments for the number of the repetition, from 1. */
const INDEX = '$index';

/**
 * The steps that a text orders, line by line:
 * - `Call <tool> with {json}`: one step with one call; `… and <tool> with {json}` puts another call in the same answer;
 * - `… 200 times`: so many calls in one answer; `… 200 times, one by one`: so many steps. `"$index"` in the JSON is the number of the repetition;
 * - `Say <text>`: the final answer, word for word; `Write <n> words`: a final answer of that length.
 */
export function parseScript(text: string): readonly ScriptStep[] {
  return text.split('\n').flatMap((line) => parseLine(line));
}

function parseLine(line: string): readonly ScriptStep[] {
  const start = STARTS.exec(line);
  if (start === null) return [];
  const verb = start[1]?.toLowerCase();
  const rest = line.slice(start[0].length).trim();
  if (verb === 'say') return rest === '' ? [] : [{ kind: 'say', text: rest.replace(/^"(.*)"$/, '$1') }];
  if (verb === 'write') {
    const words = /^(\d{1,7}) words\b/i.exec(rest)?.[1];
    return words === undefined ? [] : [{ kind: 'say', text: filler(Number(words)) }];
  }
  return parseCalls(line);
}

function parseCalls(line: string): readonly ScriptStep[] {
  const calls: { name: string; arguments: Record<string, unknown> }[] = [];
  let position = line.search(/\bcall\b/i);
  for (;;) {
    CALL.lastIndex = position;
    const match = CALL.exec(line);
    const json = match === null ? undefined : jsonAt(line, CALL.lastIndex);
    if (match === null || json === undefined) break;
    calls.push({ name: match[1] ?? '', arguments: json.value });
    position = json.end + (/^[\s,]*/.exec(line.slice(json.end))?.[0].length ?? 0);
  }
  if (calls.length === 0) return [{ kind: 'say', text: UNREADABLE }];
  const repeat = REPEAT.exec(line.slice(position));
  const times = Number(repeat?.[1] ?? 1);
  const rounds = Array.from({ length: times }, (_, index) =>
    calls.map((call) => ({ name: call.name, arguments: numbered(call.arguments, index + 1) })),
  );
  if (repeat?.[2] !== undefined) return rounds.map((round) => ({ kind: 'call', calls: round }));
  return [{ kind: 'call', calls: rounds.flat() }];
}

/** The JSON object that begins at a position, and where it ends. */
function jsonAt(text: string, start: number): { value: Record<string, unknown>; end: number } | undefined {
  for (let end = text.indexOf('}', start); end !== -1; end = text.indexOf('}', end + 1)) {
    try {
      const value: unknown = JSON.parse(text.slice(start, end + 1));
      if (typeof value === 'object' && value !== null)
        return { value: Object.fromEntries(Object.entries(value)), end: end + 1 };
    } catch {
      // The object goes on behind this brace.
    }
  }
  return undefined;
}

function numbered(value: Record<string, unknown>, index: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      item === INDEX ? index : typeof item === 'string' ? item.replaceAll(INDEX, String(index)) : item,
    ]),
  );
}

function filler(words: number): string {
  return Array.from({ length: words }, (_, index) => FILLER[index % FILLER.length]).join(' ');
}
