import type { Entry } from '../../context/log/entry.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import { readOriginals } from '../../store/compactions/compaction-parts.ts';
import type { Database, Queries } from '../../store/database/database.ts';
import { entryTexts } from '../../store/log/entry-text.ts';
import type { CallRange } from '../../store/compactions/previous-summary.ts';
import { readSaidWords } from '../../store/memory/said-words.ts';
import { redactTexts } from '../../tools/runtime/redact-secrets.ts';
import { restatedSecrets, withoutSecrets } from '../../tools/runtime/restated-secrets.ts';

/** Characters of each side that are looked through, the newest: some four million tokens, a third of a second. */
const MOST_CHARACTERS = 16_000_000;

/**
 * A text that is to outlive its conversation, without what redaction takes out of what was said there: "the password is …" has no
 * form by itself.
 */
export async function withoutSaidSecrets(sql: Queries, conversationId: string, text: string): Promise<string> {
  return withoutSecrets(text, await saidSecrets(sql, conversationId, text)).text;
}

/** What stands in a text and is known as a secret by what stands beside it anywhere in the conversation. */
export async function saidSecrets(sql: Queries, conversationId: string, text: string): Promise<ReadonlySet<string>> {
  const values = new Set<string>();
  for (const whose of ['user', 'tools', 'model'] as const) {
    let left = MOST_CHARACTERS;
    for await (const page of readSaidWords(sql, conversationId, whose)) {
      if (left <= 0) break;
      const texts = page.map(({ text: said }) => said);
      for (const value of await restatedSecrets(text, texts)) values.add(value);
      left -= texts.reduce((sum, { length }) => sum + length, 0);
    }
  }
  return values;
}

/** What stands in a text and is known as a secret by what stands beside it in these entries. */
export async function secretsOfEntries(
  text: string,
  pages: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
): Promise<ReadonlySet<string>> {
  const values = new Set<string>();
  for await (const page of pages) {
    const texts = page.flatMap(({ content }) => entryTexts(content));
    for (const value of await restatedSecrets(text, texts)) values.add(value);
  }
  return values;
}

/** Where the policy makes memories of summaries: a memory outlives its conversation, and a secret may have been told long before what is summarized. */
export function outlivesConversation({ summary }: CompactionPolicy): boolean {
  return summary.memory !== null;
}

/** Whole texts of a stretch of a conversation without secrets: what is cut out of them afterwards holds no part of one. */
export async function withoutAnySecrets(
  sql: Database,
  range: CallRange,
  { policy, texts }: { readonly policy: CompactionPolicy; readonly texts: readonly string[] },
): Promise<readonly string[]> {
  const { texts: redacted } = await redactTexts(texts);
  const together = redacted.join('\n');
  if (together.trim() === '') return redacted;
  const known = outlivesConversation(policy)
    ? await saidSecrets(sql, range.conversationId, together)
    : await secretsOfEntries(together, readOriginals(sql, range));
  return redacted.map((text) => withoutSecrets(text, known).text);
}
