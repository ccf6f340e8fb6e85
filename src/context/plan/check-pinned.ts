import { textsOf } from '../log/content.ts';
import { projectView } from '../view/project-view.ts';
import type { AgentView, ProjectionInput, View } from '../view/view.ts';

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
export function missingPinned(view: Pick<View, 'system'>, pinned: PinnedTexts): readonly string[] {
  const { agent, rulesNote } = pinned;
  const texts: readonly (readonly [string, string])[] = [
    ['the instructions', agent.instructions],
    ...agent.rules.map((rule, index) => [`rule ${index + 1} of ${agent.rules.length}`, rule] as const),
    ...rulesNote.map((rule, index) => [index === 0 ? 'the note of rules' : `pin ${index}`, rule] as const),
  ];
  return texts.flatMap(([name, text]) => (text.trim() === '' || view.system.includes(text) ? [] : [name]));
}

interface PinnedTexts {
  readonly agent: Pick<AgentView, 'instructions' | 'rules'>;
  /** Its parts: the agent's rules, then each pin. */
  readonly rulesNote: readonly string[];
}

/**
 * The next request, with everything pinned in it.
 * @throws PinnedTextMissing
 */
export function projectChecked(input: ProjectionInput): View {
  const view = projectView(input);
  const note = input.entries.findLast(({ kind, slot }) => kind === 'note' && slot === 'rules');
  const missing = missingPinned(view, {
    agent: input.agent,
    rulesNote: textsOf(note?.content ?? []),
  });
  if (missing.length > 0) throw new PinnedTextMissing(missing);
  return view;
}
