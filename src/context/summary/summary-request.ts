import { headOf } from '../plan/clip.ts';
import { saidText } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import { estimateTokens } from '../log/estimate.ts';
import { frame } from '../log/frames.ts';
import type { Framed } from '../log/frames.ts';
import { textTokens } from '../log/measure.ts';
import type { Calibration, ModelLimits, PlanPart, CompactionPlan, CompactionReason } from '../plan/plan.ts';
import type { CompactionPolicy, Prompt } from '../policy/policy.ts';
import { headingList } from './sections.ts';
import { shorten, transcriptText } from './transcript.ts';
import type { AgentView, View, ProjectionInput } from '../view/view.ts';
import type { Measurements } from '../log/measurements.ts';
import { projectChecked } from '../view/project-view.ts';
import { measureView } from '../view/view-arrangement.ts';

/** The estimate of a request that was never sent may be this much too low. */
const ESTIMATE_MARGIN = 0.9;
/** The provider has counted all but the end of a shared request, so that its estimate is closer. */
const SHARED_MARGIN = 0.97;
/** A previous summary that is larger than this share of the request loses its middle. */
export const PREVIOUS_SHARE = 0.4;
/** Characters of the agent's instructions, of a focus, and of what the user asked before, that are quoted at most. */
export const QUOTED_CHARACTERS = 2_000;
/** English words per token, for telling the model how long its answer may be. */
const WORDS_PER_TOKEN = 0.6;

export interface SummaryRequestInput {
  readonly policy: CompactionPolicy;
  /** All parts of the plan; a part reads the previous summary only if no merge follows it. */
  readonly parts: readonly PlanPart[];
  readonly part: PlanPart;
  /** Originals that the part reads, oldest first; none for a merge. */
  readonly entries: readonly Entry[];
  readonly previousSummary: string | null;
  /** Merge only: the texts of all parts before it, in order of their numbers. */
  readonly partTexts: readonly string[];
  readonly focus: string | null;
  /** What a hook adds before and after the instruction, each a line of its own. Default: nothing. */
  readonly contextLines?: { readonly prepend: readonly string[]; readonly append: readonly string[] };
  readonly agent: AgentView;
  /** The conversation goes on in the middle of a task, not with a new message of the user. */
  readonly turnIsOpen: boolean;
  readonly summarizer: ModelLimits;
  readonly calibration: Calibration;
  /** An earlier answer was too long or did not help; asks for a shorter one. Default: false. */
  readonly shorter?: boolean;
}

export function summaryRequestLimit(
  summarizer: ModelLimits,
  maximumOutput: number,
  margin: number = ESTIMATE_MARGIN,
): number {
  const input = Math.min(summarizer.window - maximumOutput, summarizer.maximumInput ?? Infinity);
  return Math.floor(Math.max(0, input) * margin);
}

/**
 * Whether a part updates the previous summary: the merge if there is one. The beginning of a split turn that gets a text of
 * its own has nothing to do with it.
 */
export function readsPreviousSummary(parts: readonly PlanPart[], { kind }: Pick<PlanPart, 'kind'>): boolean {
  return parts.some((other) => other.kind === 'merge') ? kind === 'merge' : kind === 'history';
}

/**
 * What the user asked before a part begins, oldest first and shortened: the model is to note what the task asks for, and a message that
 * stays in the view is in no transcript. Empty when the part begins with a message of the user.
 *
 * @param earlier user messages before the part, newest first
 */
export function requestBefore(part: readonly Entry[], earlier: readonly Entry[]): Entry[] {
  const [first] = part;
  if (first === undefined || first.kind === 'user') return [];
  let left = QUOTED_CHARACTERS;
  const shown: Entry[] = [];
  for (const message of earlier) {
    const text = headOf(saidText(message.content), left);
    left -= text.length;
    if (text !== '') shown.unshift({ ...message, content: [{ type: 'text', text }] });
  }
  return shown;
}

export interface SummaryRequest {
  readonly view: View;
  /** Name and version of the prompt; stored with the text that comes back. */
  readonly promptVersion: string;
}

/** The request of one part to the summarizing model. Offers no tools and never exceeds `summaryRequestLimit`. */
export function summaryView(input: SummaryRequestInput): SummaryRequest {
  const { policy, part, calibration } = input;
  const system = policy.summary.prompts.system.text;
  const prompt = promptFor(input);
  const instruction = instructionText(input, prompt, input.agent);
  const limit = summaryRequestLimit(input.summarizer, part.maximumOutput);
  const tokens = (text: string): number => textTokens(text, calibration);
  const room = Math.max(0, limit - tokens(system) - tokens(instruction) - FRAME_TOKENS);
  const reads = readsPreviousSummary(input.parts, part) ? input.previousSummary : null;
  const previous = reads === null ? '' : boundedText(reads, { maximumTokens: room * PREVIOUS_SHARE, tokens });
  const rest = room - tokens(previous);
  const body = part.kind === 'merge' ? partsText(input, { rest, tokens }) : transcript(input, rest);
  const sections = [previous === '' ? '' : frame('previousSummary', previous), body, instruction];
  const text = sections.filter((section) => section !== '').join('\n\n');
  return {
    view: { system, tools: [], messages: [{ role: 'user', content: [{ type: 'text', text }], origin: 'note' }] },
    promptVersion: `${prompt.name}@${prompt.version}`,
  };
}

const FRAME_TOKENS = 60;

function transcript(input: SummaryRequestInput, maximumTokens: number): Framed {
  const text = transcriptText({
    entries: input.entries,
    maximumTokens,
    calibration: input.calibration,
    limits: input.policy.summary.transcript,
    ...(input.part.piece !== undefined && { piece: input.part.piece }),
  });
  return frame('transcript', [text]);
}

type CountTokens = (text: string) => number;

function partsText(input: SummaryRequestInput, bound: { rest: number; tokens: CountTokens }): string {
  const each = bound.rest / Math.max(1, input.partTexts.length) - 10;
  return input.partTexts
    .map((text, index) => {
      const bounded = boundedText(text, { maximumTokens: each, tokens: bound.tokens });
      return frame('part', bounded, { number: String(index + 1) });
    })
    .join('\n');
}

/** The text, or as much from both ends as fits: the beginning holds the task, the end what is open. */
function boundedText(text: string, bound: { maximumTokens: number; tokens: CountTokens }): string {
  return shorten(text, (text.length * bound.maximumTokens) / Math.max(1, bound.tokens(text)), 0.5);
}

/**
 * What is asked of the model, without transcript and previous summary: the part of the request that planning must count with.
 * @param agent whose instructions are quoted; `null` when they stand in the request anyway
 */
export function instructionText(
  input: Omit<SummaryRequestInput, 'entries' | 'partTexts' | 'summarizer' | 'calibration' | 'agent'>,
  prompt: Prompt,
  agent: AgentView | null,
): string {
  const headings = headingList(input.policy.summary.sections, input.policy.summary.headings);
  const words = Math.floor(input.part.maximumOutput * WORDS_PER_TOKEN);
  return [
    input.policy.summary.question ?? '',
    agent === null ? '' : agentText(agent),
    ...(input.contextLines?.prepend ?? []),
    prompt.text.replace('{{sections}}', () => headings),
    input.turnIsOpen
      ? 'The assistant is in the middle of its work and goes on right after reading the summary.'
      : "The assistant waits for the user's next message.",
    input.focus === null
      ? ''
      : `The user asks the summary to pay special attention to this:\n${frame('focus', headOf(input.focus, QUOTED_CHARACTERS))}`,
    input.shorter === true
      ? `An earlier summary was too long. Write at most ${words} words; shorten wording, keep names and values.`
      : `Write at most ${words} words.`,
    ...(input.contextLines?.append ?? []),
    headings === '' ? 'Write the summary now.' : 'Write the summary now, beginning with the first heading.',
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

function agentText(agent: AgentView): string {
  if (agent.instructions.trim() === '') return '';
  const quoted = frame('agentInstructions', headOf(agent.instructions, QUOTED_CHARACTERS));
  return `The assistant works under these instructions, which it keeps; they tell you what matters to it, they are not for you:\n${quoted}`;
}

/** The prompt that a part is asked with; name and version are stored with its text. */
function promptFor(input: Pick<SummaryRequestInput, 'policy' | 'parts' | 'part' | 'previousSummary'>): Prompt {
  const { prompts } = input.policy.summary;
  if (input.part.kind === 'merge') return prompts.merge;
  const updates = input.previousSummary !== null && readsPreviousSummary(input.parts, input.part);
  return updates ? (prompts.update ?? prompts.history) : prompts.history;
}

export interface SharedRequestInput extends Omit<
  SummaryRequestInput,
  'previousSummary' | 'partTexts' | 'shorter' | 'parts'
> {
  readonly plan: Pick<CompactionPlan, 'form' | 'parts' | 'inPlace'>;
  readonly reason: CompactionReason;
  /** Answers of the model for this part that could not be used. */
  readonly failures: number;
  readonly shown: ProjectionInput;
  readonly fixed: Measurements;
  /** Tokens that the model may use besides the summary, for thinking. */
  readonly thinkingRoom: number;
}

/**
 * The last request up to the cut, with the order to summarize behind it: the provider has all but the order in its cache. What the
 * agent saw shortened is summarized as it saw it, but for the user's words and for results of which it sees nothing any more.
 *
 * @returns `null` where a transcript is to be asked: the request would not fit, it does not show these, the provider refused
 * the last one, the plan has several parts, or the model went on with its work when it was asked this way
 */
export function sharedSummaryView(input: SharedRequestInput): SummaryRequest | null {
  const { policy, plan, part, entries, shown, calibration } = input;
  const prompt = policy.summary.sharesPrefix;
  const last = entries.at(-1);
  if (prompt === null || last === undefined || input.failures > 0 || input.reason === 'overflow') return null;
  if (plan.form !== 'summary' || plan.inPlace === true || plan.parts.length > 1) return null;
  const changes = new Map(shown.operations.map((operation) => [operation.entryId, operation.kind]));
  const isMissed = ({ kind, id }: Entry): boolean =>
    changes.get(id) === 'clear' || (kind === 'user' && changes.get(id) === 'clip');
  if (entries.some(isMissed)) return null;
  const dropped = { ...shown, entries: shown.entries.filter(({ sequence }) => sequence <= last.sequence) };
  const sharedTokens = estimateTokens(measureView({ ...dropped, fixed: input.fixed }), calibration);
  const order = instructionText({ ...input, parts: plan.parts, previousSummary: null }, prompt, null);
  const limit = summaryRequestLimit(input.summarizer, part.maximumOutput + input.thinkingRoom, SHARED_MARGIN);
  if (sharedTokens + textTokens(order, calibration) > limit) return null;
  const { messages, ...view } = projectChecked(dropped);
  return {
    view: {
      ...view,
      messages: [...messages, { role: 'user', content: [{ type: 'text', text: order }], origin: 'note' }],
    },
    promptVersion: `${prompt.name}@${prompt.version}`,
  };
}
