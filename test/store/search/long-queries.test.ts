import { expect, it } from 'vitest';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { conversationOf, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

/** The common words of a team's talk, more than a search looks for. */
const COMMON =
  'meeting budget garden kitchen harbor window teacher river engine market bridge village painter doctor summer winter forest mountain ticket letter orange yellow purple silver copper timber marble cotton leather basket bottle candle carpet ceiling chimney curtain'.split(
    ' ',
  );

/** A conversation in which each common word is said three times, each time by itself, and one thing once. */
async function talkWith(wanted: string): Promise<string> {
  const talk = COMMON.flatMap((word) => [1, 2, 3].map((number) => `Somebody spoke of the ${word} ${number}.`));
  const { conversationId } = await conversationOf(sql, ...talk.slice(0, 60), wanted, ...talk.slice(60));
  return conversationId;
}

const first = async (conversationId: string, query: string): Promise<string | undefined> =>
  (await searchMemory(sql, { conversationId, query }))[0]?.text;

it('the telling word of a question counts wherever it stands: behind more words than are looked for, stop words among them', async () => {
  const wanted = 'The zebrafish tank leaks.';
  const conversationId = await talkWith(wanted);
  const stops = 'and now we have to do that with him for you as it was before they did it there';
  expect(await first(conversationId, `zebrafish ${COMMON.join(' ')} ${stops}`)).toBe(wanted);
  expect(await first(conversationId, `${COMMON.join(' ')} ${stops} zebrafish`)).toBe(wanted);
  expect(await first(conversationId, `${stops} ${COMMON.join(' ')} zebrafish`)).toBe(wanted);
});

it('what stands behind a pasted trace is looked for', async () => {
  const wanted = 'The request req-77ab91 of the pelican service timed out.';
  const conversationId = await talkWith(wanted);
  const trace = Array.from(
    { length: 12 },
    (_, line) => `at Handler${line}.invoke${line}x (lib/frame${line}.js:${line}07:3)`,
  );
  expect(await first(conversationId, `${trace.join('\n')}\nrequest req-77ab91 pelican`)).toBe(wanted);
});
