import type { ContentPart } from '../../context/log/content.ts';
import type { EntryKind } from '../../context/log/entry.ts';
import { projectView, shownStubs } from '../../context/view/project-view.ts';
import { readableText } from '../../context/log/readable-text.ts';
import type { ProjectionInput } from '../../context/view/view.ts';
import { onPath } from '../../store/conversations/branch-path.ts';
import type { Database } from '../../store/database/database.ts';
import { originalText, readableEntryText } from '../../store/log/entry-text.ts';
import { searchMemory } from '../../store/memory/recall-search.ts';
import { readCurrentProjectionSource, readProjectionSourceOfCompaction } from '../../store/log/view.ts';
import type { ProjectionSource } from '../../store/log/view.ts';
import { FACT_KINDS, factsIn } from './facts.ts';
import type { FactKind } from './facts.ts';
import { saysFact, searchedText } from './find-fact.ts';

export interface MissingFact {
  readonly kind: FactKind;
  readonly text: string;
  readonly entryId: string;
  readonly sequence: number;
  /** Whether one search for its own words finds an entry that says it; `null` when it was not asked for. */
  readonly found: boolean | null;
}

export interface SummaryAudit {
  readonly conversationId: string;
  readonly compactionId: string | null;
  readonly droppedEntries: number;
  /** Entries that the window shows shorter than they were: cleared, clipped, or longer than may be shown at once. */
  readonly shortenedEntries: number;
  /** Facts that the originals of both say. */
  readonly facts: number;
  /** Of them, said by the summary. */
  readonly carried: number;
  /** Of the others, said by what else the window shows. */
  readonly shown: number;
  readonly missing: readonly MissingFact[];
  readonly askedFor: number;
  readonly found: number;
}

const PAGE = 500;
/** Passages that one search may return: what `recall_search` shows. */
const PASSAGES = 5;

interface HiddenFact {
  readonly kind: FactKind;
  readonly text: string;
  readonly entryId: string;
  readonly sequence: number;
}

/**
 * Which facts of the originals that left the window, or that it shows shorter, it no longer says, and whether recall finds
 * them. What is a fact is decided by the rules of `facts.ts`, which share nothing with the prompts.
 *
 * @param options.compactionId the window as this compaction left it. Default: the window as it is
 * @param options.limit facts that recall is asked for, spread over the kinds
 * @throws StoreError `entry_not_found` for a compaction that the conversation does not have
 */
export async function auditSummaries(
  sql: Database,
  conversationId: string,
  { compactionId, limit }: { readonly compactionId?: string; readonly limit: number },
): Promise<SummaryAudit> {
  const source =
    compactionId === undefined
      ? await readCurrentProjectionSource(sql, conversationId)
      : await readProjectionSourceOfCompaction(sql, conversationId, compactionId);
  const summary = source?.input.summary ?? null;
  const hidden = source === null ? NOTHING_HIDDEN : await readHidden(sql, source);
  const inSummary = searchedText(summary?.text ?? '', true);
  const notCarried = hidden.facts.filter((fact) => !saysFact(inSummary, fact));
  // What the window shows of entries are copies: only a summary says things in other words.
  const inWindow = searchedText(source === null ? '' : windowText(source.input), false);
  const missing = notCarried.filter((fact) => !saysFact(inWindow, fact));
  const asked = await askRecall(sql, conversationId, spread(missing, limit));
  return {
    conversationId,
    compactionId: summary?.compactionId ?? null,
    droppedEntries: hidden.droppedEntries,
    shortenedEntries: hidden.shortenedEntries,
    facts: hidden.facts.length,
    carried: hidden.facts.length - notCarried.length,
    shown: notCarried.length - missing.length,
    missing: missing.map((fact) => withAnswer(fact, asked.get(fact) ?? null)),
    askedFor: asked.size,
    found: [...asked.values()].filter(Boolean).length,
  };
}

interface Hidden {
  readonly droppedEntries: number;
  readonly shortenedEntries: number;
  /** Each once, by the first entry that says it. */
  readonly facts: readonly HiddenFact[];
}

const NOTHING_HIDDEN: Hidden = { droppedEntries: 0, shortenedEntries: 0, facts: [] };

interface PathEntry {
  readonly id: string;
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly content: readonly ContentPart[];
  readonly originalId: string | null;
}

/** Facts of all originals on the path that the window does not show whole. */
async function readHidden(sql: Database, { point, input }: ProjectionSource): Promise<Hidden> {
  const inView = new Set(input.entries.map(({ id }) => id));
  const changed = new Set([...input.operations.map(({ entryId }) => entryId), ...shownStubs(input).keys()]);
  const facts = new Map<string, HiddenFact>();
  let droppedEntries = 0;
  let shortenedEntries = 0;
  for (let after = 0; ;) {
    const page = await sql<PathEntry[]>`
      select e.id, e.sequence, e.kind, e.content, e.original_id from entries e
      where ${onPath(sql, point)} and e.sequence > ${after} and e.kind in ('user', 'assistant', 'tool_result')
      order by e.sequence limit ${PAGE}`;
    for (const { id, sequence, kind, content, originalId } of page) {
      after = sequence;
      if (!inView.has(id)) droppedEntries += 1;
      else if (changed.has(id) || originalId !== null) shortenedEntries += 1;
      else continue;
      const text = originalId === null ? readableEntryText(content) : readableText(await wholeText(sql, originalId));
      for (const fact of factsIn(kind, text)) {
        const key = `${fact.kind}\n${fact.text}`;
        if (!facts.has(key)) facts.set(key, { kind: fact.kind, text: fact.text, entryId: id, sequence });
      }
    }
    if (page.length < PAGE) return { droppedEntries, shortenedEntries, facts: [...facts.values()] };
  }
}

async function wholeText(sql: Database, originalId: string): Promise<string> {
  let whole = '';
  for await (const chunk of originalText(sql, originalId)) whole += chunk;
  return whole;
}

/** What the next request says, the summary included: reasoning is left out, as everywhere that facts are looked for. */
function windowText(input: ProjectionInput): string {
  const { system, messages } = projectView(input);
  const contents = messages.flatMap((message) =>
    message.role === 'tool_results' ? message.results.map(({ content }) => content) : [message.content],
  );
  return [system, ...contents.map(readableEntryText)].join('\n');
}

function withAnswer({ kind, text, entryId, sequence }: HiddenFact, found: boolean | null): MissingFact {
  return { kind, text, entryId, sequence, found };
}

/** As many as there is room for: each kind's share, what it leaves over for the others; each from beginning to end of the conversation. */
function spread(missing: readonly HiddenFact[], limit: number): readonly HiddenFact[] {
  const kinds = FACT_KINDS.map((kind) => missing.filter((fact) => fact.kind === kind));
  // Those with the fewest facts first, so that what they leave is known when the others take theirs.
  const byCount = kinds.filter((facts) => facts.length > 0).toSorted((one, other) => one.length - other.length);
  let room = limit;
  return byCount.flatMap((facts, index) => {
    const share = Math.ceil(room / (byCount.length - index));
    const taken = Math.min(share, facts.length);
    room -= taken;
    const picked = Array.from({ length: taken }, (_, at) => facts[Math.floor((at * facts.length) / taken)]);
    return picked.filter((fact) => fact !== undefined);
  });
}

async function askRecall(
  sql: Database,
  conversationId: string,
  facts: readonly HiddenFact[],
): Promise<ReadonlyMap<HiddenFact, boolean>> {
  const asked = new Map<HiddenFact, boolean>();
  for (const fact of facts) {
    const passages = await searchMemory(sql, { conversationId, query: fact.text, limit: PASSAGES });
    const said = searchedText(passages.map(({ text }) => text).join('\n'), true);
    asked.set(fact, saysFact(said, fact));
  }
  return asked;
}
