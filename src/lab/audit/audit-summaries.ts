import type { ContentPart } from '../../context/content.ts';
import type { EntryKind } from '../../context/entry.ts';
import { onPath, readSummaryInForce } from '../../store/branch-path.ts';
import type { Database } from '../../store/database.ts';
import { entryText } from '../../store/entry-text.ts';
import { readCurrentPoint } from '../../store/plan-source.ts';
import { searchMemory } from '../../store/search.ts';
import { FACT_KINDS, factsIn } from '../facts/facts.ts';
import type { FactKind } from '../facts/facts.ts';
import { saysFact, searchedText } from '../facts/find-fact.ts';

/** A fact that the view no longer says. */
export interface MissingFact {
  readonly kind: FactKind;
  readonly text: string;
  /** The first entry that says it. */
  readonly entryId: string;
  readonly sequence: number;
  /** Whether one search for its own words finds an entry that says it; `null` when it was not asked for. */
  readonly found: boolean | null;
}

export interface SummaryAudit {
  readonly conversationId: string;
  /** The compaction whose summary is in force; `null` when nothing was summarized: then the window holds all. */
  readonly compactionId: string | null;
  /** Entries that left the window. */
  readonly droppedEntries: number;
  /** Facts that they say. */
  readonly facts: number;
  /** Of them, said by the summary, or by an entry before the cut that stays verbatim. */
  readonly carried: number;
  /** The others, in order of appearance. */
  readonly missing: readonly MissingFact[];
  readonly askedFor: number;
  readonly found: number;
}

/** Entries read at a time. */
const PAGE = 500;
/** Passages that one search may return: what `recall_search` shows. */
const PASSAGES = 5;

interface DroppedFact {
  readonly kind: FactKind;
  readonly text: string;
  readonly entryId: string;
  readonly sequence: number;
}

/**
 * Which facts of the originals that left the window no live summary carries, and whether recall finds them. What is a fact
 * is decided by the lab's rules (`src/lab/facts`), which share nothing with the prompts or the must-keep check.
 *
 * @param options.limit facts that recall is asked for, spread over the kinds
 */
export async function auditSummaries(
  sql: Database,
  conversationId: string,
  { limit }: { readonly limit: number },
): Promise<SummaryAudit> {
  const point = await readCurrentPoint(sql, conversationId);
  const summary = point === null ? null : await readSummaryInForce(sql, point);
  const nothing = { conversationId, droppedEntries: 0, facts: 0, carried: 0, missing: [], askedFor: 0, found: 0 };
  if (point === null || summary === null || summary.inPlace === true) return { ...nothing, compactionId: null };
  const kept = new Set(summary.keptUserEntryIds);
  const facts = new Map<string, DroppedFact>();
  const keptTexts: string[] = [];
  let droppedEntries = 0;
  for (let after = 0; ;) {
    const page = await sql<{ id: string; sequence: number; kind: EntryKind; content: readonly ContentPart[] }[]>`
      select e.id, e.sequence, e.kind, e.content from entries e
      where ${onPath(sql, point)} and e.sequence > ${after} and e.sequence < ${summary.firstKeptSequence}
        and e.kind in ('user', 'assistant', 'tool_result')
      order by e.sequence limit ${PAGE}`;
    for (const { id, sequence, kind, content } of page) {
      const text = entryText(content);
      if (kept.has(id)) keptTexts.push(text);
      else {
        droppedEntries += 1;
        for (const fact of factsIn(kind, text)) {
          const key = `${fact.kind}\n${fact.text}`;
          if (!facts.has(key)) facts.set(key, { kind: fact.kind, text: fact.text, entryId: id, sequence });
        }
      }
      after = sequence;
    }
    if (page.length < PAGE) break;
  }
  const said = searchedText([summary.text, ...keptTexts].join('\n'), true);
  const missing = [...facts.values()].filter((fact) => !saysFact(said, fact));
  const asked = await askRecall(sql, conversationId, spread(missing, limit));
  return {
    conversationId,
    compactionId: summary.compactionId,
    droppedEntries,
    facts: facts.size,
    carried: facts.size - missing.length,
    missing: missing.map((fact) => withAnswer(fact, asked.get(fact) ?? null)),
    askedFor: asked.size,
    found: [...asked.values()].filter(Boolean).length,
  };
}

function withAnswer({ kind, text, entryId, sequence }: DroppedFact, found: boolean | null): MissingFact {
  return { kind, text, entryId, sequence, found };
}

/** As many of each kind as there is room for, each from beginning to end of the conversation. */
function spread(missing: readonly DroppedFact[], limit: number): readonly DroppedFact[] {
  const perKind = Math.max(1, Math.floor(limit / FACT_KINDS.length));
  return FACT_KINDS.flatMap((kind) => {
    const ofKind = missing.filter((fact) => fact.kind === kind);
    const every = Math.max(1, ofKind.length / perKind);
    return Array.from({ length: Math.min(perKind, ofKind.length) }, (_, index) => ofKind[Math.floor(index * every)]);
  }).filter((fact) => fact !== undefined);
}

async function askRecall(
  sql: Database,
  conversationId: string,
  facts: readonly DroppedFact[],
): Promise<ReadonlyMap<DroppedFact, boolean>> {
  const asked = new Map<DroppedFact, boolean>();
  for (const fact of facts) {
    const passages = await searchMemory(sql, { conversationId, query: fact.text, limit: PASSAGES });
    const said = searchedText(passages.map(({ text }) => text).join('\n'), true);
    asked.set(fact, saysFact(said, fact));
  }
  return asked;
}
