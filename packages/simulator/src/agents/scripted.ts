import { summariesIn } from './summaries.ts';
import type { Draft } from '../core/answer.ts';
import type { Random } from '../core/random.ts';
import { isAnswered, newestUserText, type ConversationEvent } from './conversation.ts';
import { tellsOfSteps } from '../summary/observations.ts';
import { parseScript, type ScriptStep } from './script.ts';

/** Characters of a tool result that the last answer repeats. */
const RESULT_CHARACTERS = 200;

/** "Step 3 of 12": how far a script is, said with every step, so that it outlives the step's own messages. */
const PROGRESS = /\bStep (\d+) of (\d+)\b/g;

/**
 * Follows the newest instructions of the user: `Call <tool> with {json}` and their like (see the README).
 * `undefined` when no text has any, when they were carried out and answered, or when another task came after them: a
 * shortened context may have lost that they were answered. Words that arrive in between change nothing.
 */
export function scriptedDraft(
  events: readonly ConversationEvent[],
  random: Random,
  isTask: (text: string) => boolean = () => false,
): Draft | undefined {
  const assignment = newestUserText(events, (text) => parseScript(text).length > 0 || isTask(text));
  if (assignment === undefined || parseScript(assignment.text).length === 0) return undefined;
  if (isAnswered(assignment.since)) return undefined;
  const steps = parseScript(assignment.text);
  const summaries = summariesIn(events).filter((summary) => tellsOfSteps(summary, assignment.text));
  const step = stepsDone(assignment.since, summaries, steps);
  const next = steps[step];
  if (next === undefined) return { text: closing(assignment.since, steps, random), calls: [] };
  if (next.kind === 'say') return { text: next.text, calls: [] };
  return { text: announcement(next, step + 1, steps.length, random), calls: next.calls };
}

/**
 * How many steps are behind: by the calls that were answered since the instruction, or by the highest progress said
 * since or in a summary, whichever is more (a shortened context has lost calls, a caller may drop words).
 * @param summaries those that may tell of these steps
 */
function stepsDone(
  since: readonly ConversationEvent[],
  summaries: readonly string[],
  steps: readonly ScriptStep[],
): number {
  const said = since.flatMap((event) => (event.kind === 'assistant' ? [event.text] : []));
  const reached = [...said, ...summaries].flatMap((text) =>
    [...text.matchAll(PROGRESS)].flatMap((match) => (Number(match[2]) === steps.length ? [Number(match[1])] : [])),
  );
  return Math.max(stepsAnswered(since, steps), ...reached);
}

function stepsAnswered(since: readonly ConversationEvent[], steps: readonly ScriptStep[]): number {
  let answered = since.filter((event) => event.kind === 'call' && event.result !== undefined).length;
  const open = steps.findIndex((step) => {
    answered -= step.kind === 'call' ? step.calls.length : 0;
    return answered < 0 || step.kind === 'say';
  });
  return open === -1 ? steps.length : open;
}

function announcement(
  step: Extract<ScriptStep, { kind: 'call' }>,
  number: number,
  total: number,
  random: Random,
): string {
  const names = [...new Set(step.calls.map((call) => call.name))].join(' and ');
  const opening = random.pick(['Calling', 'Now calling', 'Next I call', 'I call']);
  return `Step ${number} of ${total}. ${opening} ${names}${step.calls.length > 1 ? ` (${step.calls.length} calls)` : ''}.`;
}

/** Counts the results only where none has left the context. */
function closing(since: readonly ConversationEvent[], steps: readonly ScriptStep[], random: Random): string {
  const results = since.flatMap((event) => (event.kind === 'call' && event.result !== undefined ? [event.result] : []));
  const ordered = steps.reduce((sum, step) => sum + (step.kind === 'call' ? step.calls.length : 0), 0);
  const count = results.length < ordered ? '' : `: ${results.length} tool result${results.length === 1 ? '' : 's'}`;
  const newest = results.at(-1)?.text.replace(/\s+/g, ' ').trim() ?? '';
  const shown = newest.length > RESULT_CHARACTERS ? `${newest.slice(0, RESULT_CHARACTERS)}…` : newest;
  const ending = random.pick(['All steps are behind me.', 'That was the last step.', 'Nothing is left to do.']);
  return `Done${count}${shown === '' ? '.' : `${count === '' ? '; the last result' : ', the last one'}: ${shown}`}\n${ending}`;
}
