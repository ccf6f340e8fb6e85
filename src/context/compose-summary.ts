import type { PlanPart } from './plan.ts';
import { splitSections } from './summary-sections.ts';
import type { WrittenSection } from './summary-sections.ts';

const SPLIT_TURN_HEADING = '**Turn Context (split turn):**';

/**
 * The summary that a finished plan leaves, from the texts of its parts: the merged one if there is
 * a merge; otherwise one after another, the beginning of a split turn under a heading of its own.
 *
 * @param earlier the summary in force, when no part has read it: it stays as it is, before the new text (P16)
 */
export function composeSummary(
  parts: readonly { readonly kind: PlanPart['kind']; readonly text: string }[],
  earlier: string | null = null,
): {
  readonly text: string;
  readonly sections: readonly WrittenSection[];
} {
  const merged = parts.findLast((part) => part.kind === 'merge');
  const before = earlier === null || parts.some((part) => part.kind !== 'turn_prefix') ? [] : [earlier];
  const texts = parts.map((part, index) =>
    part.kind === 'turn_prefix' && before.length + index > 0 ? `${SPLIT_TURN_HEADING}\n\n${part.text}` : part.text,
  );
  const text = merged?.text ?? [...before, ...texts].join('\n\n---\n\n');
  return { text, sections: splitSections(text) };
}
