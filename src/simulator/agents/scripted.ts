import type { Draft } from '../core/answer.ts';
import type { Random } from '../core/random.ts';
import { newestUserText, type ConversationEvent } from './conversation.ts';
import { parseScript, type ScriptStep } from './script.ts';

/** Characters of a tool result that the last answer repeats. */
const RESULT_CHARACTERS = 200;

/** "Step 3 of 12": how far a script is, said with every step, so that it outlives the step's own messages. */
const PROGRESS = /\bStep (\d+) of (\d+)\b/g;

/**
 * Follows instructions in the newest text of the user: `Call <tool> with {json}` and their like (see the README).
 * `undefined` when the newest text has none.
 */
export function scriptedDraft(events: readonly ConversationEvent[], random: Random): Draft | undefined {
  const assignment = newestUserText(events);
  const steps = assignment === undefined ? [] : parseScript(assignment.text);
  if (assignment === undefined || steps.length === 0) return undefined;
  const step = stepsDone(assignment.since, events, steps.length);
  const next = steps[step];
  if (next === undefined) return { text: closing(assignment.since, random), calls: [] };
  if (next.kind === 'say') return { text: next.text, calls: [] };
  return { text: announcement(next, step + 1, steps.length, random), calls: next.calls };
}

/** How many steps are behind: by the highest progress said since the instruction, or in a summary of it. */
function stepsDone(since: readonly ConversationEvent[], all: readonly ConversationEvent[], total: number): number {
  const said = since.flatMap((event) => (event.kind === 'assistant' ? [event.text] : []));
  const summaries = all.flatMap((event) => (event.kind === 'user' && event.textKind === 'summary' ? [event.text] : []));
  const reached = [...said, ...summaries].flatMap((text) =>
    [...text.matchAll(PROGRESS)].flatMap((match) => (Number(match[2]) === total ? [Number(match[1])] : [])),
  );
  return Math.max(0, ...reached);
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

function closing(since: readonly ConversationEvent[], random: Random): string {
  const results = since.flatMap((event) => (event.kind === 'call' && event.result !== undefined ? [event.result] : []));
  const newest = results.at(-1)?.text.replace(/\s+/g, ' ').trim() ?? '';
  const shown = newest.length > RESULT_CHARACTERS ? `${newest.slice(0, RESULT_CHARACTERS)}…` : newest;
  const ending = random.pick(['All steps are behind me.', 'That was the last step.', 'Nothing is left to do.']);
  return `Done: ${results.length} tool results${shown === '' ? '.' : `, the last one: ${shown}`}\n${ending}`;
}
