import { LINES, quoteTags } from '../log/frames.ts';
import type { PlanPart } from '../plan/plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import { parseSections, splitSections } from './summary-sections.ts';
import type { WrittenSection } from './summary-sections.ts';

/**
 * The summary that a finished plan leaves, from the texts of its parts: the merged one if there is
 * a merge; otherwise one after another, the beginning of a split turn under a heading of its own.
 *
 * @param earlier the summary in force, when no part has read it: it stays as it is, before the new text (P16)
 * @param policy tells how its sections are headed; without it by second-level headings
 */
export function composeSummary(
  all: readonly { readonly kind: PlanPart['kind']; readonly text: string }[],
  earlier: string | null = null,
  policy?: CompactionPolicy,
): {
  readonly text: string;
  readonly sections: readonly WrittenSection[];
} {
  const parts = all.filter((part) => part.kind !== 'flush');
  const merged = parts.findLast((part) => part.kind === 'merge');
  const before = earlier === null || parts.some((part) => part.kind !== 'turn_prefix') ? [] : [earlier];
  const texts = parts.map((part, index) =>
    part.kind === 'turn_prefix' && before.length + index > 0 ? `${LINES.splitTurn}\n\n${part.text}` : part.text,
  );
  const text = quoteTags(merged?.text ?? [...before, ...texts].join('\n\n---\n\n'));
  return { text, sections: sectionsOf(text, policy) };
}

function sectionsOf(text: string, policy: CompactionPolicy | undefined): readonly WrittenSection[] {
  if (policy?.summary.headings !== 'labels') return splitSections(text);
  return parseSections(
    text,
    policy.summary.sections.map(({ title }) => title),
    'labels',
  );
}
