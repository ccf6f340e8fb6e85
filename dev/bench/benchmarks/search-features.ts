import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Database } from '../../../src/store/database/database.ts';
import { indexConversation, searchMemory } from '../../../src/store/memory/recall-search.ts';
import { sharesFoundWithin } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { featureSets } from '../memory/features/feature-sets.ts';
import type { FeatureSet, SourceFile } from '../memory/features/feature-sets.ts';
import { loadEntries } from '../memory/load-entries.ts';

const WITHIN = [1, 10];
const LONGEST_FILE = 8_000;

/** What the search finds of words that are misspelt, quoted, parts of identifiers or paths, or of languages without spaces. */
export async function measureSearchFeatures(sql: Database): Promise<Figure[]> {
  const ranks = new Map<string, number[]>();
  for (const set of await featureSets(await sourceFiles())) {
    const known = ranks.get(set.name) ?? [];
    known.push(...(await ask(sql, set)));
    ranks.set(set.name, known);
  }
  return [...ranks].flatMap(([name, found]) =>
    sharesFoundWithin({ benchmark: 'search-features', name, ranks: found, within: WITHIN }),
  );
}

/** Every second file of this project's own sources. */
async function sourceFiles(): Promise<readonly SourceFile[]> {
  const listed = execFileSync('git', ['ls-files', 'src/**/*.ts'], { encoding: 'utf8' }).trim().split('\n');
  const paths = listed.filter((_, index) => index % 2 === 0);
  return Promise.all(
    paths.map(async (path) => ({ path, text: (await readFile(path, 'utf8')).slice(0, LONGEST_FILE) })),
  );
}

async function ask(sql: Database, { texts, paths, questions }: FeatureSet): Promise<number[]> {
  const kind = paths === undefined ? 'user' : 'tool_result';
  const loaded = await loadEntries(
    sql,
    texts.length,
    (at) => texts[at] ?? '',
    undefined,
    () => kind,
  );
  const { conversationId, entryIds } = loaded;
  if (paths !== undefined) await setPaths(sql, entryIds, paths);
  await indexConversation(sql, conversationId);
  const ranks: number[] = [];
  for (const { query, answers } of questions) {
    const right = new Set(answers.map((at) => entryIds[at]));
    const found = await searchMemory(sql, { conversationId, query });
    ranks.push(found.findIndex(({ entryId }) => right.has(entryId)));
  }
  return ranks;
}

async function setPaths(sql: Database, entryIds: readonly string[], paths: readonly string[]): Promise<void> {
  const calls = paths.map((path) => JSON.stringify(JSON.stringify({ path })));
  await sql.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      update tool_calls c set arguments = p.arguments::json
      from unnest(${[...entryIds]}::uuid[], ${calls}::text[]) as p (id, arguments) where c.result_entry_id = p.id`;
  });
}
