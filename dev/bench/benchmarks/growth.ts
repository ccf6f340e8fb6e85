import type { BenchStack } from '../bench-stack.ts';
import { fillConversation } from '../fill-conversation.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runTurn } from '../measured-turn.ts';
import { alternate, median, ratios, summarize } from '../statistics.ts';

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
  const views: Record<'early' | 'late', number[]> = { early: [], late: [] };
  const measure = async (when: 'early' | 'late', middle: number): Promise<number> => {
    const steps = middle - Math.ceil(STEPS / 2);
    const { conversationId } = await fillConversation(stack.database, { template, steps });
    const time = median((await runTurn(stack, STEPS, conversationId)).steps);
    views[when].push(await readNewestRequestTokens(stack, conversationId));
    return time;
  };
  const times = await alternate(rounds, {
    early: async () => measure('early', EARLY),
    late: async () => measure('late', LATE),
  });
  const [early, late] = [times('early'), times('late')];
  const differences = views.early.map((tokens, round) => {
    const other = views.late[round] ?? tokens;
    return Math.max(tokens, other) / Math.min(tokens, other);
  });
  const figure = { benchmark: 'growth', unit: 'ms' } as const;
  return [
    { ...figure, name: `step ${EARLY}`, ...summarize(early) },
    { ...figure, name: `step ${LATE.toLocaleString('en-US')}`, ...summarize(late) },
    { ...figure, name: 'difference of their views', unit: '×', target: { atMost: 1.01 }, ...summarize(differences) },
    { ...figure, name: 'step 1,000 / step 10', unit: '×', target: { atMost: 1.1 }, ...ratios(late, early) },
  ];
}

async function readNewestRequestTokens({ database }: BenchStack, conversationId: string): Promise<number> {
  const [row] = await database<{ tokens: number }[]>`
    select input_tokens as tokens from model_attempts where purpose = 'step' and conversation_id = ${conversationId} and input_tokens is not null
    order by started_at desc limit 1`;
  if (row === undefined) throw new TypeError('a turn that ended has asked the model');
  return row.tokens;
}
