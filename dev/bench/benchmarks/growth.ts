import type { BenchStack } from '../bench-stack.ts';
import { fillConversation } from '../fill-conversation.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runTurn } from '../measured-turn.ts';
import { median, summarize } from '../statistics.ts';

/** Steps of a measured turn; the tenth, or the thousandth, is in the middle of it. */
const STEPS = 11;
const EARLY = 10;
const LATE = 1_000;

/**
 * A step after 1,000 steps against one after 10, with the same view: both conversations are filled with the same
 * steps and one compaction that leaves the last three and a summary of equal length. Then each takes a real turn.
 */
export async function measureGrowth(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const { conversationId: template } = await runTurn(stack, 2);
  const early: number[] = [];
  const late: number[] = [];
  const tokens: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const measure = async (middle: number, times: number[]): Promise<number> => {
      const filled = middle - Math.ceil(STEPS / 2);
      const { conversationId } = await fillConversation(stack.database, { template, steps: filled });
      times.push(median((await runTurn(stack, STEPS, conversationId)).steps));
      return readNewestRequestTokens(stack, conversationId);
    };
    const both = [async () => measure(EARLY, early), async () => measure(LATE, late)];
    const views: number[] = [];
    for (const run of round % 2 === 0 ? both : both.toReversed()) views.push(await run());
    tokens.push(Math.max(...views) / Math.min(...views));
  }
  const figure = { benchmark: 'growth', unit: 'ms' } as const;
  return [
    { ...figure, name: `step ${EARLY}`, ...summarize(early) },
    { ...figure, name: `step ${LATE.toLocaleString('en-US')}`, ...summarize(late) },
    { ...figure, name: 'difference of their views', unit: '×', target: { atMost: 1.01 }, ...summarize(tokens) },
    {
      ...figure,
      name: 'step 1,000 / step 10',
      unit: '×',
      target: { atMost: 1.1 },
      ...summarize(late.map((time, round) => time / (early[round] ?? time))),
    },
  ];
}

async function readNewestRequestTokens({ database }: BenchStack, conversationId: string): Promise<number> {
  const [row] = await database<{ tokens: number }[]>`
    select input_tokens as tokens from model_attempts where purpose = 'step' and conversation_id = ${conversationId} and input_tokens is not null
    order by started_at desc limit 1`;
  if (row === undefined) throw new TypeError('a turn that ended has asked the model');
  return row.tokens;
}
