import { expect, it } from 'vitest';
import { pino } from 'pino';
import { recallOf } from '../../../src/activities/tool/tool-context.ts';
import { writePieces } from '../../../src/store/log/content-pieces.ts';
import { recallOpen } from '../../../src/tools/builtin/recall-open.ts';
import { recallSearch } from '../../../src/tools/builtin/recall-search.ts';
import { call } from '../../tools/support/tool-context.ts';
import { answer, finishToolCall, startTurn, step, text, useTestStore } from '../support/store-builders.ts';

const { sql } = useTestStore();

const INDEXED = 4_000_000;

/** A log with a word shortly before the bound, and another far behind it. */
function longLog(): string {
  const line = 'The site answered within the second, as on every day before.\n';
  const lines = (characters: number): string => line.repeat(Math.ceil(characters / line.length));
  return `${lines(INDEXED - 10_000)}The numbat sleeps.\n${lines(300_000)}The quoll sleeps.\n`;
}

it('of an original over 4,000,000 characters a search knows the beginning, says so, and the rest is opened', async () => {
  const turn = await startTurn(sql);
  const log = longLog();
  await step(sql, turn, 1);
  await answer(sql, turn, 2, { calls: 1 });
  const original = await writePieces(sql, turn.conversationId, [Buffer.from(log)]);
  const result = await finishToolCall(sql, turn, 2, 0, { ...text('The site …'), original });
  if (result.state !== 'stored') throw new Error('the result came late');
  const { entryId } = result;
  const memory = recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, turn.conversationId);
  const search = async (query: string): Promise<string> =>
    (await call(recallSearch, { input: { query }, context: { memory } })).text;
  const rest = `[of entry ${entryId} only the first ${INDEXED} of ${log.length} characters are searched; recall_open reads on from offset ${INDEXED}]`;
  const before = await search('numbat');
  expect(before).toContain('The numbat sleeps.');
  expect(before.endsWith(rest)).toBe(true);
  expect(await search('quoll')).toBe(
    `[nothing found; try other words, fewer words, or a word that must stand in the text]\n\n${rest}`,
  );
  const input = { entry_id: entryId, offset: log.length - 100 };
  expect((await call(recallOpen, { input, context: { memory } })).text).toContain('The quoll sleeps.');
});

it('nothing is said where all is searched', async () => {
  const turn = await startTurn(sql, 'The numbat sleeps.');
  const memory = recallOf({ database: sql, embedder: null, logger: pino({ level: 'silent' }) }, turn.conversationId);
  expect((await call(recallSearch, { input: { query: 'numbats' }, context: { memory } })).text).not.toContain(
    'searched',
  );
});
