import type { Draft } from '../core/answer.ts';
import type { Random } from '../core/random.ts';
import type { SimulatorRequest } from '../core/request.ts';
import { parseFilePage, type Segment } from '../reader/file-text.ts';
import { findFact } from '../reader/find-fact.ts';
import { listedPaths } from '../reader/listing.ts';
import { findTools } from '../reader/tool-kit.ts';
import { newestUserText, stringArgument, type CallEvent, type ConversationEvent } from './conversation.ts';

/** `Read the README and …`, `Open src/main.ts`, `Look at "notes.txt"`. */
const READ_ORDER =
  /\b(?:read|open|look (?:at|into))\b(?: through)?(?: (?:the|this|our|file))*\s+["'`“]?(README|[\w@~+-][\w.@~+/-]*\.[A-Za-z0-9]{1,10})\b/i;

/** What a file is called that people only call README. */
const README = /(?:^|\/)readme(?:\.(?:md|markdown|txt|rst))?$/i;
const DEFAULT_README = 'README.md';

/**
 * Reads the one file that the user's newest words name, and answers from it; `undefined` when they name none, or when
 * no tool to read is offered. A README that has another name is looked for in the listing.
 */
export function oneFileDraft(
  request: SimulatorRequest,
  events: readonly ConversationEvent[],
  random: Random,
): Draft | undefined {
  const assignment = newestUserText(events);
  const named = READ_ORDER.exec(assignment?.text ?? '')?.[1];
  const { reads, lists } = findTools(request.tools);
  if (assignment === undefined || named === undefined || !reads) return undefined;
  const calls = assignment.since.flatMap((event) => (event.kind === 'call' ? [event] : []));
  const path = /^readme$/i.test(named) ? (listedReadme(calls) ?? DEFAULT_README) : named;
  const look = calls.findLast((call) => call.name === 'read_file' && stringArgument(call, 'path') === path);
  if (look === undefined) return callOf('read_file', path, random.pick([`I read ${path}.`, `Let me read ${path}.`]));
  if (look.result === undefined) return undefined;
  if (!look.result.isError) return { text: describe(path, segmentsOf(look.result.text), random), calls: [] };
  const wasListed = calls.some((call) => call.name === 'list_files');
  if (README.test(path) && lists && !wasListed)
    return callOf('list_files', '.', `There is no ${path}; I look which files there are.`);
  return { text: `I could not read ${path}: ${firstLine(look.result.text)}`, calls: [] };
}

function callOf(name: string, path: string, text: string): Draft {
  return { text, calls: [{ name, arguments: { path } }] };
}

/** The README that a listing shows, in whatever spelling. */
function listedReadme(calls: readonly CallEvent[]): string | undefined {
  return listedPaths(calls).find((path) => README.test(path));
}

function segmentsOf(text: string): readonly Segment[] {
  return parseFilePage(text, undefined).segments;
}

function describe(path: string, segments: readonly Segment[], random: Random): string {
  const heading = findFact({ kind: 'first_heading' }, segments);
  const sentence = findFact({ kind: 'first_sentence' }, segments);
  const lines = segments.reduce((sum, segment) => sum + segment.text.trimEnd().split('\n').length, 0);
  const about = heading.state === 'found' ? `“${heading.value}”` : `${lines} lines without a heading`;
  const opening = random.pick([`${path} is about ${about}.`, `I read ${path}: ${about}.`]);
  return sentence.state === 'found' ? `${opening} It says: ${sentence.value}` : opening;
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
