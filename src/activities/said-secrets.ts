import type { Queries } from '../store/database.ts';
import { readSaidWords } from '../store/said-words.ts';
import { restatedSecrets, withoutSecrets } from '../tools/restated-secrets.ts';

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
    for await (const texts of readSaidWords(sql, conversationId, whose)) {
      if (left <= 0) break;
      for (const value of await restatedSecrets(text, texts)) values.add(value);
      left -= texts.reduce((sum, { length }) => sum + length, 0);
    }
  }
  return values;
}
