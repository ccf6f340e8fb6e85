import type { CallEvent, ConversationEvent } from '../agents/conversation.ts';
import type { Random } from '../core/random.ts';
import { isFailure, pathOf } from '../reader/knowledge.ts';
import type { Ledger } from './ledger.ts';

/** Characters of a request, an outcome and any other line. */
const REQUEST_CHARACTERS = 600;
const LINE_CHARACTERS = 200;

/** Lines of a kind that a summary holds at most. */
const MOST_LINES = 60;

export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

/**
 * Each request of the user with its outcome: the last thing said before the next request. Of one that stands in the context without its
 * answer an earlier summary may know more.
 * @param carried lines of earlier summaries, oldest first
 */
export function requestLines(
  events: readonly ConversationEvent[],
  carried: readonly string[],
): { readonly earlier: readonly string[]; readonly own: readonly string[] } {
  const left = carried.filter((line, index) => isSettled(line, carried.slice(index + 1)));
  const own = events.flatMap((event, index) => {
    if (event.kind !== 'user' || event.textKind !== 'message') return [];
    const after = events.slice(index + 1);
    const next = after.findIndex((each) => each.kind === 'user' && each.textKind === 'message');
    const since = next === -1 ? after : after.slice(0, next);
    const last = since.at(-1);
    const outcome =
      last?.kind === 'assistant'
        ? `done: ${oneLine(last.text, LINE_CHARACTERS)}`
        : since.some(({ kind }) => kind !== 'user')
          ? 'in progress'
          : 'open';
    // One that was done before is another one in the same words, if this one is worked on.
    const known = left.findIndex(
      (line) => line.startsWith(requestLine(event.text)) && (outcome === 'open' || !line.includes(DONE)),
    );
    const [earlier] = known === -1 ? [] : left.splice(known, 1);
    return [outcome === 'open' && earlier !== undefined ? earlier : `${requestLine(event.text)}${outcome}`];
  });
  return { earlier: left, own };
}

/** Whether a line is the last word on its request: summaries of parts may tell of the same one, at its beginning and at its end. */
function isSettled(line: string, later: readonly string[]): boolean {
  if (!REQUEST_LINE.test(line) || line.includes(DONE)) return true;
  const opening = line.slice(0, line.lastIndexOf(' → '));
  return !later.some((other) => other.startsWith(`${opening} → `));
}

const DONE = ' → done: ';

/** How the line of a request begins; its outcome follows. */
function requestLine(text: string): string {
  return `- ${requestWords(text)} → `;
}

/** Of a request that was shortened the beginning is the same. */
const COMPARED_CHARACTERS = 80;
const REQUEST_LINE = /^- .* → (?:done: |in progress$|open$)/;

/**
 * Whether the steps of which a summary tells may be those of a request: the newest line of it, where the summary lists requests, says that
 * it is not done yet.
 */
export function tellsOfSteps(summary: string, request: string): boolean {
  const lines = summary.split('\n').filter((line) => REQUEST_LINE.test(line));
  const opening = requestLine(request).slice(0, COMPARED_CHARACTERS);
  const newest = lines.findLast((line) => line.startsWith(opening));
  return lines.length === 0 || (newest !== undefined && !newest.includes(DONE));
}

/** A request on one line; of a long list in it only the words around it. */
function requestWords(text: string): string {
  const lines = text.split('\n');
  const listed = lines.filter((line) => /^\s*(?:[-*•]|\d{1,4}[.)])\s/.test(line));
  if (listed.length < 8) return oneLine(text, REQUEST_CHARACTERS);
  const words = lines.filter((line) => !listed.includes(line)).join('\n');
  return `${oneLine(words, REQUEST_CHARACTERS)} (${listed.length} lines listed)`;
}

/** Where the work stands: the last thing said, how far a script is, and what comes next. */
export function stateLines(events: readonly ConversationEvent[], ledger: Ledger, random: Random): readonly string[] {
  const said = events.findLast((event) => event.kind === 'assistant');
  const progress = events
    .flatMap((event) =>
      event.kind === 'assistant' || (event.kind === 'user' && event.textKind === 'summary')
        ? [...event.text.matchAll(/\bStep \d+ of \d+\b/g)]
        : [],
    )
    .at(-1)?.[0];
  const next = ledger.openItems[0];
  const last =
    said?.kind === 'assistant'
      ? [`- ${random.pick(['Last said', 'The last words'])}: ${oneLine(said.text, LINE_CHARACTERS)}`]
      : [];
  return [
    ...last,
    ...(progress === undefined || last[0]?.includes(progress) === true ? [] : [`- ${progress} was reached.`]),
    ...(next === undefined ? [] : [`- ${random.pick(['Next comes', 'The next item is'])} ${next.label}.`]),
  ];
}

/** Lines that hold values: what tools returned apart from the files of the ledger, newest last. */
export function valueLines(events: readonly ConversationEvent[], ledger: Ledger): readonly string[] {
  const inLedger = new Set([
    ...(ledger.task?.items ?? []).flatMap((item) => item.files),
    ...ledger.memories.map((memory) => memory.label),
  ]);
  const calls = events.flatMap((event) => (event.kind === 'call' ? [event] : []));
  const lines = calls.flatMap((call) => {
    const path = pathOf(call);
    if (path !== undefined && (inLedger.has(path) || path === ledger.task?.reportPath)) return [];
    return [
      `- ${call.name}${argumentsOf(call)}: ${oneLine(salientText(call.result?.text ?? 'no result yet'), LINE_CHARACTERS)}`,
    ];
  });
  return [...new Set(lines)].slice(-MOST_LINES);
}

function argumentsOf(call: CallEvent): string {
  const text = JSON.stringify(call.arguments);
  return text === '{}' ? '' : ` ${oneLine(text, 100)}`;
}

/** The line of a text that tells most: one with an identifier, a number behind a name, or an address; else the first. */
function salientText(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (
    lines.find((line) => /https?:\/\/|\b[0-9a-f]{8}-[0-9a-f]{4}|[\w)"]\s*[:=]\s*\S*\d/.test(line)) ?? lines[0] ?? ''
  );
}

export function decisionLines(events: readonly ConversationEvent[]): readonly string[] {
  const sentences = events.flatMap((event) =>
    event.kind === 'assistant' || (event.kind === 'user' && event.textKind === 'message')
      ? event.text
          .split(/(?<=[.!?])\s+|\n/)
          .filter((sentence) =>
            /\b(?:decided|chose|prefer|must|always|never|instead of|confirmed|rejected|use .+ not)\b/i.test(sentence),
          )
      : [],
  );
  return [...new Set(sentences.map((sentence) => `- ${oneLine(sentence, LINE_CHARACTERS)}`))].slice(-MOST_LINES);
}

export function problemLines(events: readonly ConversationEvent[]): readonly string[] {
  const lines = events.flatMap((event) => {
    if (event.kind !== 'call' || event.result === undefined) return [];
    if (isFailure(event))
      return [`- ${event.name}${argumentsOf(event)}: ${oneLine(event.result.text, LINE_CHARACTERS)}`];
    const failing = event.result.text.split('\n').find((line) => /\b(?:error|failed|exception|fatal)\b/i.test(line));
    return failing === undefined ? [] : [`- ${event.name}: ${oneLine(failing, LINE_CHARACTERS)}`];
  });
  return [...new Set(lines)].slice(-MOST_LINES);
}
