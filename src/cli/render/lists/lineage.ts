import type { ChangedEntry, CompactionLineage } from '../../../client/types.ts';
import { formatCount } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';

const METHODS: Readonly<Record<ChangedEntry['method'], string>> = {
  clip: 'head and tail kept',
  clear: 'placeholder',
  strip: 'images taken out',
};

/** What a compaction shows shorter, a line for each: the tool, its size before and after, and how. */
export function changeLines({ changes }: CompactionLineage): string[] {
  return changes.map(({ sequence, toolName, method, charactersBefore, charactersAfter }) => {
    const cut = charactersBefore === 0 ? 0 : Math.round((1 - charactersAfter / charactersBefore) * 100);
    const name = toolName === null ? 'message' : safeLine(toolName);
    return `entry ${sequence} ${name}: ${formatCount(charactersBefore)} → ${formatCount(charactersAfter)} characters (−${Math.max(0, cut)} %), ${METHODS[method]}`;
  });
}

/** Which originals a summary stands for: those that its parts read, and over the generations all that the summaries before it cover. */
export function lineageLines(lineage: CompactionLineage, all: readonly CompactionLineage[]): string[] {
  if (lineage.parts.length === 0) return [];
  const read = lineage.parts.map(({ number, kind, promptVersion, entries }) => {
    const what = entries.length === 0 ? 'the texts of the other parts' : `entries ${ranges(entries)}`;
    return `part ${number} (${kind.replaceAll('_', ' ')}, ${safeLine(promptVersion ?? 'no prompt')}) read ${what}`;
  });
  const earlier = generationsBefore(lineage, all).map(
    (before) => `generation ${before.number} read entries ${ranges(before.parts.flatMap(({ entries }) => entries))}`,
  );
  return [...read, ...earlier];
}

/** Newest first. */
function generationsBefore(lineage: CompactionLineage, all: readonly CompactionLineage[]): CompactionLineage[] {
  const before = all.find(({ compactionId }) => compactionId === lineage.previousCompactionId);
  return before === undefined ? [] : [before, ...generationsBefore(before, all)];
}

/** 1, 2, 3, 7 → "1–3, 7". */
function ranges(entries: readonly { readonly sequence: number }[]): string {
  const sequences = [...new Set(entries.map(({ sequence }) => sequence))].toSorted((left, right) => left - right);
  const found: [number, number][] = [];
  for (const sequence of sequences) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === sequence - 1) last[1] = sequence;
    else found.push([sequence, sequence]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ') || 'none';
}
