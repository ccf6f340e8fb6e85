import type { ContentPart, ToolCallPart } from '../log/content.ts';
import type { Entry, NoteSlot } from '../log/entry.ts';
import type { Group } from '../log/groups.ts';
import { textOf, textsOf } from '../log/content.ts';
import { earlierResult, quotedContent, runtimeContent } from './notes.ts';
import type { RecallOptions } from './notes.ts';
import { LINES } from '../log/frames.ts';
import { applyOperation } from '../log/operations.ts';
import type { Operation } from '../plan/plan.ts';
import { stubResults } from './request-stubs.ts';
import { summaryMessages } from '../summary/summary-message.ts';
import { systemText } from './system-text.ts';
import { arrangeView, operationsByEntry, orderView } from './view-arrangement.ts';
import type { AgentView, ProjectionInput, View, ViewMessage } from './view.ts';

/** Raised whenever the same input would give another view; stored with each fingerprint. */
export const RENDERER_VERSION = 1;

/** Closes a call that has no result, so that no request ever holds an orphan (providers answer 400). */
const MISSING_RESULT = '[No result of this call was recorded. Whether it took effect is unknown.]';

/** Notes whose text does not say by itself what it is. */
const NOTE_HEADINGS: Partial<Record<NoteSlot, string>> = { plan: LINES.plan, memories: LINES.memories };

interface Rendering extends RecallOptions {
  readonly stubs: ReadonlyMap<string, readonly ContentPart[]>;
  readonly operations: ReadonlyMap<string, Operation>;
  /** Assistant entries up to this sequence lose their reasoning. */
  readonly changedThrough: number;
}

/**
 * The next request, a pure projection: the same input always gives the same view, and what is
 * appended later never changes what stands before it, until the next compaction.
 */
export function projectView(input: ProjectionInput): View {
  const { agent } = input;
  const arrangement = arrangeView(input);
  // With named blocks the memories stand in the system prompt instead of among the messages.
  const isApart = ({ kind, slot }: Entry): boolean =>
    agent.namedBlocks === true && kind === 'note' && slot === 'memories';
  const memories = [...arrangement.carriedNotes, ...arrangement.kept].findLast(isApart);
  const carriedNotes = arrangement.carriedNotes.filter((entry) => !isApart(entry));
  const kept = arrangement.kept.filter((entry) => !isApart(entry));
  const rendering: Rendering = {
    operations: operationsByEntry(input.operations),
    ...placeholderOptions(input),
    stubs: stubsOf(input, kept),
    changedThrough: input.changedThroughSequence ?? 0,
  };
  const rules = textsOf(arrangement.rules?.content ?? []);
  const parts = orderView({ ...arrangement, carriedNotes, kept }, input.summary);
  return {
    system: systemText(agent, rules, memories === undefined ? null : textOf(memories.content)),
    tools: agent.tools,
    messages: [
      ...parts.flatMap((part) => (part === 'summary' ? summaryOf(input) : groupMessages(part, rendering))),
      ...(input.runtime === undefined ? [] : message(runtimeContent(input.runtime), 'runtime')),
    ],
  };
}

function summaryOf({ summary, policy }: ProjectionInput): ViewMessage[] {
  return summary === null ? [] : summaryMessages(summary.text, policy.summary.question, summary.shown.framing);
}

function placeholderOptions({ agent, policy }: ProjectionInput): RecallOptions {
  return { recall: agent.tools.some((tool) => tool.name === 'recall_open'), texts: policy.placeholders };
}

function stubsOf(input: ProjectionInput, kept: readonly Entry[]): Rendering['stubs'] {
  const { requestStubs } = input.policy;
  if (requestStubs === null) return new Map();
  const changed = new Set(input.operations.map(({ entryId }) => entryId));
  const isWhole = ({ id }: Entry): boolean => !changed.has(id);
  return stubResults(kept, requestStubs, { ...placeholderOptions(input), isWhole });
}

/** Results that are shown as one line, by entry id: the request is smaller than the sizes of its entries say. */
export function shownStubs(input: ProjectionInput): ReadonlyMap<string, readonly ContentPart[]> {
  if (input.policy.requestStubs === null) return new Map();
  return stubsOf(input, arrangeView(input).kept);
}

function groupMessages(group: Group<Entry>, rendering: Rendering): ViewMessage[] {
  const [first] = group.entries;
  if (first === undefined) return [];
  switch (group.kind) {
    case 'user':
      return message(shownContent(first, rendering), 'user');
    case 'note':
      return noteMessage(first, rendering);
    case 'branch_summary':
      return message(shownContent(first, rendering), 'summary');
    case 'assistant':
      return exchangeMessages(first, group.entries.slice(1), rendering);
    case 'tool_result':
      return message(earlierResult(first.toolName ?? 'a tool', shownContent(first, rendering)), 'note');
    case 'compaction':
      return [];
  }
}

function noteMessage(entry: Entry, rendering: Rendering): ViewMessage[] {
  const content = shownContent(entry, rendering);
  const heading = entry.slot === undefined ? undefined : NOTE_HEADINGS[entry.slot];
  if (content.length === 0 || heading === undefined) return message(content, 'note');
  return message([{ type: 'text', text: heading }, ...quotedContent(content)], 'note');
}

function message(
  content: readonly ContentPart[],
  origin: Extract<ViewMessage, { role: 'user' }>['origin'],
): ViewMessage[] {
  return content.length === 0 ? [] : [{ role: 'user', content, origin }];
}

function exchangeMessages(assistant: Entry, results: readonly Entry[], rendering: Rendering): ViewMessage[] {
  const shown = shownContent(assistant, rendering);
  const content =
    assistant.sequence <= rendering.changedThrough ? shown.filter((part) => part.type !== 'thinking') : shown;
  if (content.length === 0) return [];
  const calls = content.filter((part) => part.type === 'tool_call');
  const answer: ViewMessage = {
    role: 'assistant',
    content,
    callNumber: assistant.callNumber ?? 0,
    turnId: assistant.turnId,
  };
  if (calls.length === 0) return [answer];
  return [answer, { role: 'tool_results', results: calls.map((call) => toolResult(call, results, rendering)) }];
}

type ToolResultView = Extract<ViewMessage, { role: 'tool_results' }>['results'][number];

/** The first result of the call: a late one, should it ever reach the log, does not count. */
function toolResult(call: ToolCallPart, results: readonly Entry[], rendering: Rendering): ToolResultView {
  const result = results.find((entry) => entry.callIndex === call.index);
  if (result === undefined) {
    return { id: call.id, name: call.name, isError: true, content: [{ type: 'text', text: MISSING_RESULT }] };
  }
  const content = shownContent(result, rendering);
  return { id: call.id, name: call.name, isError: result.isError ?? false, content };
}

function shownContent(entry: Entry, rendering: Rendering): readonly ContentPart[] {
  const stub = rendering.stubs.get(entry.id);
  if (stub !== undefined) return stub;
  const operation = rendering.operations.get(entry.id);
  return operation === undefined ? entry.content : applyOperation(entry, operation, rendering);
}

/** A request that would reach the model without something that was pinned. Names it, but never quotes it. */
export class PinnedTextMissing extends Error {
  override readonly name = 'PinnedTextMissing';
  readonly code = 'pinned_text_missing';

  constructor(missing: readonly string[]) {
    super(
      `the request lacks ${missing.join(', ')}, which must stand in it word for word; no model was called. ` +
        'This is a fault of the projection: report it.',
    );
  }
}

/**
 * What was pinned and does not stand in the view's system text word for word: the agent's instructions, its rules, and the
 * newest note of rules (R12, R29). Looked for after each projection, so after each pass: whatever a compaction does, no
 * request may go out without them.
 */
export function missingPinned(
  { system }: Pick<View, 'system'>,
  { instructions, rules }: Pick<AgentView, 'instructions' | 'rules'>,
  rulesNote: readonly string[],
): readonly string[] {
  const texts: readonly (readonly [string, string])[] = [
    ['the instructions', instructions],
    ...rules.map((rule, index) => [`rule ${index + 1} of ${rules.length}`, rule] as const),
    ...rulesNote.map((rule, index) => [index === 0 ? 'the note of rules' : `pin ${index}`, rule] as const),
  ];
  return texts.flatMap(([name, text]) => (text.trim() === '' || system.includes(text) ? [] : [name]));
}

/**
 * The next request, with everything pinned in it.
 * @throws PinnedTextMissing
 */
export function projectChecked(input: ProjectionInput): View {
  const view = projectView(input);
  const note = input.entries.findLast(({ kind, slot }) => kind === 'note' && slot === 'rules');
  const missing = missingPinned(view, input.agent, textsOf(note?.content ?? []));
  if (missing.length > 0) throw new PinnedTextMissing(missing);
  return view;
}
