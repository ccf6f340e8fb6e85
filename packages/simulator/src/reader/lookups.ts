import type { Draft } from '../core/answer.ts';
import type { Fact } from './fact-question.ts';
import { knownFact } from './known-facts.ts';
import { MOST_LOST, type Knowledge } from './knowledge.ts';
import { entriesOf, queriesFor } from './recall-evidence.ts';
import { factsOf, filesOfFact, type Item, type ReadingTask } from './reading-task.ts';
import type { ToolKit } from './tool-kit.ts';

/** Lookups in one answer, in a window that holds them. All of them together bring back at most about a sixth of it. */
const MOST_LOOKUPS = 4;
/** Six times what a search brings back, about. Tokens. */
const WINDOW_OF_A_SEARCH = 6_000;
/** Three characters a token. */
const CHARACTERS_PER_WINDOW_TOKEN = 1 / 8;

/** Characters of the largest page that a lookup asks for, whatever the window. */
const MOST_CHARACTERS = 8000;

/** Passages that a search is asked for. */
const PASSAGES = 3;

/** Pages of one entry that are opened before the reader gives up on it. */
const MOST_PAGES = 12;

/** Items whose facts are looked up before their rows are written, so that little is lost when the context is shortened again. */
const MOST_ITEMS = 4;

type Call = Draft['calls'][number];

/** Recall calls that would bring back the missing facts of some items; none when nothing more can be tried. */
function lookupsFor(
  task: ReadingTask,
  items: readonly Item[],
  knowledge: Knowledge,
  tools: ToolKit,
  window: number,
): readonly Call[] {
  const calls = new Map<string, Call>();
  const most = Math.max(1, Math.min(MOST_LOOKUPS, Math.floor(window / WINDOW_OF_A_SEARCH)));
  for (const item of items) {
    for (const fact of factsOf(task, item)) {
      if (knownFact(knowledge, item, fact).state !== 'unknown') continue;
      for (const path of filesOfFact(item, fact)) {
        const call = nextLookup(
          knowledge,
          item,
          fact,
          path,
          tools,
          Math.min(MOST_CHARACTERS, Math.floor(window * CHARACTERS_PER_WINDOW_TOKEN)),
        );
        if (call !== undefined) calls.set(JSON.stringify(call), call);
        if (calls.size >= most) return [...calls.values()];
      }
    }
  }
  return [...calls.values()];
}

/** A fact with words of its own is searched by them; otherwise the file's entries are opened, and searched for if unknown. */
function nextLookup(
  knowledge: Knowledge,
  item: Item,
  fact: Fact,
  path: string,
  tools: ToolKit,
  characters: number,
): Call | undefined {
  const entries = entriesOf(knowledge, item, fact, path);
  const [first, second] = queriesFor(item, fact, path);
  const canSearch = (query: string): boolean =>
    tools.search !== undefined && knowledge.searches.get(query)?.isOver !== true;
  const isAnchored = 'anchor' in fact.question;
  if (canSearch(first) && (isAnchored || entries.length === 0)) return searchCall(tools, first);
  const open = entries.flatMap((entryId) => nextPage(knowledge, entryId, tools, characters) ?? [])[0];
  if (open !== undefined) return open;
  if (canSearch(first)) return searchCall(tools, first);
  return canSearch(second) ? searchCall(tools, second) : undefined;
}

function searchCall(tools: ToolKit, query: string): Call | undefined {
  if (tools.search === undefined) return undefined;
  return { name: 'recall_search', arguments: { query, ...(tools.search.limits ? { limit: PASSAGES } : {}) } };
}

function nextPage(knowledge: Knowledge, entryId: string, tools: ToolKit, characters: number): Call | undefined {
  if (tools.open === undefined) return undefined;
  const opened = knowledge.opened.get(entryId);
  if (
    opened !== undefined &&
    (opened.nextOffset === undefined || opened.lost >= MOST_LOST || opened.text.length > characters * MOST_PAGES)
  )
    return undefined;
  const offset = opened?.nextOffset ?? 0;
  return {
    name: 'recall_open',
    arguments: { entry_id: entryId, offset, ...(tools.open.limits ? { limit: characters } : {}) },
  };
}

/**
 * What comes next for the items that the report still lacks: lookups for the first few, or none when enough rows in
 * front are ready to be written. Few at a time, so that little is lost when the context is shortened in between.
 */
export function nextPart(
  task: ReadingTask,
  missing: readonly Item[],
  knowledge: Knowledge,
  tools: ToolKit,
  window: number,
): { readonly lookups: readonly Call[]; readonly ready: readonly Item[] } {
  const open = missing.findIndex((item) => lookupsFor(task, [item], knowledge, tools, window).length > 0);
  if (open === -1 || open >= MOST_ITEMS) return { lookups: [], ready: open === -1 ? missing : missing.slice(0, open) };
  return { lookups: lookupsFor(task, missing.slice(0, MOST_ITEMS), knowledge, tools, window), ready: [] };
}
