import { budgetFor } from '../../src/context/policy/budget.ts';
import type { ContentPart } from '../../src/context/log/content.ts';
import { definedOf } from '../../src/context/policy/defined-of.ts';
import type { Entry, EntryOutline, NoteSlot } from '../../src/context/log/entry.ts';
import { NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { fixedMeasurements } from '../../src/context/view/system-text.ts';
import { measureContent } from '../../src/context/log/measure.ts';
import type {
  Calibration,
  CompactionPlan,
  ModelLimits,
  Operation,
  PlanInput,
  SummaryInForce,
} from '../../src/context/plan/plan.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { projectView } from '../../src/context/view/project-view.ts';
import { continuationContent } from '../../src/context/view/notes.ts';
import { measureSummary } from '../../src/context/summary/summary-message.ts';
import type { AgentView, View } from '../../src/context/view/view.ts';

export function text(value: string): ContentPart[] {
  return [{ type: 'text', text: value }];
}

const PROSE = generatedProse(600_000);

function generatedProse(characters: number): string {
  const words = [
    'storage',
    'window',
    'a',
    'the',
    'entry',
    'of',
    'measured',
    'answer',
    'in',
    'version',
    'is',
    'kept',
    'by',
  ];
  const result: string[] = [];
  let state = 2_654_435;
  for (let length = 0; length < characters; length += 5) {
    state = (state * 48_271) % 2_147_483_647;
    result.push(words[state % words.length] ?? 'a', state % 11 === 0 ? '.\n' : ' ');
  }
  return result.join('');
}

/** Prose of exactly `characters` characters, up to 400,000, different for each seed. */
export function prose(characters: number, seed = 1): string {
  const start = (seed * 7_919) % 200_000;
  return PROSE.slice(start, start + characters);
}

export function image(width = 800, height = 600): ContentPart {
  return { type: 'image', mediaType: 'image/png', data: 'AAAA'.repeat(100), width, height };
}

export const AGENT: AgentView = {
  instructions: 'You read files and report facts.',
  rules: ['Never invent a value.', 'Answer in English.'],
  tools: ['read_file', 'recall_open', 'recall_search'].map((name) => ({
    name,
    description: `Use ${name} to look something up.`,
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  })),
};

export const LIMITS: ModelLimits = { window: 32_768, maximumOutput: 8_192 };

/** Builds a log as the store would hold it: sequences without gaps, measurements of the content. */
export class LogBuilder {
  readonly entries: Entry[] = [];
  turnId = 'turn-0';
  private turns = 0;
  private calls = 0;

  add(entry: Omit<Entry, 'id' | 'sequence' | 'turnId' | 'measurements'>): Entry {
    const sequence = this.entries.length + 1;
    const added = {
      ...entry,
      id: `00000000-0000-7000-8000-${String(sequence).padStart(12, '0')}`,
      sequence,
      turnId: this.turnId,
      measurements: measureContent(entry.content),
    };
    this.entries.push(added);
    return added;
  }

  /** Opens a new turn. */
  user(content: string | ContentPart[]): Entry {
    this.turns += 1;
    this.turnId = `turn-${this.turns}`;
    return this.steer(content);
  }

  /** A user message inside the running turn. */
  steer(content: string | ContentPart[]): Entry {
    return this.add({ kind: 'user', content: typeof content === 'string' ? text(content) : content });
  }

  answer(content: string | ContentPart[]): Entry {
    this.calls += 1;
    const parts = typeof content === 'string' ? text(content) : content;
    return this.add({ kind: 'assistant', callNumber: this.calls, content: parts });
  }

  /** One answer with a tool call per given result. `order` is the order in which the results arrive. */
  step(results: readonly (string | ContentPart[])[], options: StepOptions = {}): Entry[] {
    this.calls += 1;
    const callNumber = this.calls;
    const said = options.said === undefined ? [] : text(options.said);
    const calls = results.map((_, index): ContentPart => ({
      type: 'tool_call',
      index,
      id: `call_${callNumber}_${index}`,
      name: options.tool ?? 'read_file',
      arguments: options.arguments ?? JSON.stringify({ path: `docs/file-${callNumber}-${index}.md` }),
    }));
    const assistant = this.add({
      kind: 'assistant',
      callNumber,
      content: [...said, ...calls],
    });
    const order = options.order ?? results.map((_, index) => index);
    const added = order.flatMap((callIndex) => {
      const result = results[callIndex];
      if (result === undefined) return [];
      const content = typeof result === 'string' ? text(result) : result;
      const toolName = options.tool ?? 'read_file';
      return [
        this.add({ kind: 'tool_result', callNumber, callIndex, toolName, isError: options.isError ?? false, content }),
      ];
    });
    return [assistant, ...added];
  }

  note(slot: NoteSlot, value: string): Entry {
    return this.add({ kind: 'note', slot, content: text(value) });
  }
}

export interface StepOptions {
  readonly said?: string;
  readonly tool?: string;
  readonly arguments?: string;
  readonly order?: readonly number[];
  readonly isError?: boolean;
}

/** A conversation as the store keeps it: the log, and what compactions have put in force. */
export class Conversation {
  readonly log = new LogBuilder();
  summary: (SummaryInForce & { text: string }) | null = null;
  operations: Operation[] = [];
  passes = 0;
  readonly policy: CompactionPolicy;
  readonly limits: ModelLimits;
  readonly calibration: Calibration;

  constructor(options: { policy?: CompactionPolicy; limits?: ModelLimits; calibration?: Calibration } = {}) {
    this.policy = options.policy ?? DEFAULT_POLICY;
    this.limits = options.limits ?? LIMITS;
    this.calibration = options.calibration ?? NO_CALIBRATION;
  }

  get budget() {
    return budgetFor(this.policy, this.limits);
  }

  /** What the store hands to planning and projection: kept entries, kept user messages, newest notes before the cut. */
  needed(): Entry[] {
    const { summary } = this;
    if (summary === null) return this.log.entries;
    const newestNotes = new Map<string, number>();
    for (const entry of this.log.entries) {
      if (entry.kind === 'note' && entry.sequence < summary.firstKeptSequence) {
        newestNotes.set(entry.slot ?? '', entry.sequence);
      }
    }
    const wanted = new Set([...summary.keptSequences, ...newestNotes.values()]);
    return this.log.entries.filter(
      (entry) => entry.sequence >= summary.firstKeptSequence || wanted.has(entry.sequence),
    );
  }

  planInput(reason: PlanInput['reason'] = 'threshold'): PlanInput {
    return {
      policy: this.policy,
      budget: this.budget,
      calibration: this.calibration,
      summarizer: this.limits,
      fixed: fixedMeasurements(AGENT),
      entries: this.needed().map(outline),
      summary: this.summary,
      operations: this.operations,
      turnId: this.log.turnId,
      reason,
    };
  }

  /** @param options.reasoning what every answer begins with. Default: nothing */
  view(options: { readonly reasoning?: ContentPart; readonly changedThroughSequence?: number } = {}): View {
    const { reasoning, changedThroughSequence } = options;
    return projectView({
      agent: AGENT,
      policy: this.policy,
      entries: reasoning === undefined ? this.needed() : this.needed().map((entry) => beginningWith(reasoning, entry)),
      summary: this.summary,
      operations: this.operations,
      ...definedOf({ changedThroughSequence }),
    });
  }

  /** Puts a plan in force as the commit does, with the given summary text. */
  commit(plan: CompactionPlan, summaryText: string): void {
    this.passes += 1;
    const replaced = new Set(plan.operations.map((operation) => operation.entryId));
    this.operations = [...this.operations.filter(({ entryId }) => !replaced.has(entryId)), ...plan.operations];
    if (plan.firstKeptSequence !== null && plan.coveredThroughSequence !== null && plan.shown !== undefined) {
      this.summary = {
        compactionId: `compaction-${this.passes}`,
        firstKeptSequence: plan.firstKeptSequence,
        coveredThroughSequence: plan.coveredThroughSequence,
        keptSequences: plan.keptSequences,
        measurements: measureSummary(summaryText, this.policy.summary.question, plan.shown.framing),
        shown: plan.shown,
        text: summaryText,
      };
    }
    this.log.add({ kind: 'compaction', content: [] });
    if (plan.continuation) {
      this.log.add({ kind: 'note', slot: 'continuation', content: continuationContent(this.policy, plan.form) });
    }
  }
}

function beginningWith(part: ContentPart, entry: Entry): Entry {
  return entry.kind === 'assistant' ? { ...entry, content: [part, ...entry.content] } : entry;
}

/** An entry as planning sees it. */
export function outline({ content: _content, original: _original, ...rest }: Entry): EntryOutline {
  return rest;
}

/** All text of a view, for looking things up in it. */
export function viewText(view: View): string {
  return JSON.stringify(view);
}
