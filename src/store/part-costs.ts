import { costOf, estimatedUsage } from '../models/cost.ts';
import type { ReportedUsage } from '../models/model-client.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database, Transaction } from './database.ts';
import { writeAsTurn } from './transaction.ts';
import type { TurnWriter, Writer } from './transaction.ts';
import { addUsage, usageSums } from './usage.ts';

/** What a summarizing call cost, failed or not. Added to the turn's sums. */
export interface PartCall {
  readonly model: string;
  readonly usage: ReportedUsage | null;
  /** Dollars; `null` when the price is unknown, 0 for a call that was refused before it cost anything. */
  readonly cost: number | null;
  readonly durationMilliseconds: number;
}

interface Part {
  readonly compactionId: string;
  readonly part: number;
}

/**
 * A try of a part has ended, with what it cost; `null`: no model was asked. Tries before it that never reported are taken
 * for paid, as much as the first that tells a price: too much rather than too little, since limits are checked against it.
 */
export async function reportTry(writer: TurnWriter, part: Part, call: PartCall | null): Promise<void> {
  const { sql, turn } = writer;
  const where = sql`where compaction_id = ${part.compactionId} and number = ${part.part}`;
  const [row] = await sql<{ unreported: number }[]>`
    update compaction_parts set unreported_tries = greatest(0, unreported_tries - 1), epoch = ${turn.epoch} ${where}
    returning unreported_tries as unreported`;
  if (call === null) return;
  const { usage, cost, model, durationMilliseconds } = call;
  await sql`
    update compaction_parts set model = ${model},
      duration_milliseconds = duration_milliseconds + ${Math.round(durationMilliseconds)} ${where}`;
  if (usage === null && cost === 0) return;
  await payTries(writer, turn, part, { tries: 1 + (row?.unreported ?? 0), usage, cost });
}

/**
 * A try ended before the model was asked, or the provider refused it unpaid: nothing of it counts. Said again, as when the reply
 * of the commit was lost, it changes nothing.
 * @param beside what is written in the same transaction
 * @throws StoreError `stale_epoch`
 */
export async function withdrawPartAttempt(
  sql: Database,
  turn: TurnReference,
  { compactionId, part, attempt }: Part & { readonly attempt: number },
  beside: (open: Transaction) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await writeAsTurn(sql, turn, async ({ sql: open }) => {
    await beside(open);
    await open`
      update compaction_parts set withdrawn_attempt = ${attempt}, unreported_tries = greatest(0, unreported_tries - 1),
        epoch = ${turn.epoch}
      where compaction_id = ${compactionId} and number = ${part} and withdrawn_attempt < ${attempt}`;
  });
}

/** The last try is the one that is paid for; those before it were bought again. */
async function payTries(
  { sql, turn: { epoch } }: Pick<Writer, 'sql' | 'turn'>,
  turn: TurnReference,
  { compactionId, part }: Part,
  { tries, usage, cost }: Pick<PartCall, 'usage' | 'cost'> & { readonly tries: number },
): Promise<void> {
  const where = sql`where compaction_id = ${compactionId} and number = ${part}`;
  for (let paid = 0; paid < tries; paid += 1) {
    await sql`update compaction_parts set ${usageSums(sql, usage, cost)}, epoch = ${epoch} ${where}`;
    await addUsage(sql, turn, usage, cost);
  }
  const lost = tries - 1;
  if (lost === 0) return;
  await sql`
    update compaction_parts set unreported_tries = 0, lost_calls = lost_calls + ${lost},
      lost_cost = lost_cost + ${lost * (cost ?? 0)} ${where}`;
}

/**
 * Tries of parts whose plan is given up, and that never reported: a stop or a death ended them. Their requests were sent, so they
 * are taken for paid, for the input that was estimated.
 */
export async function endLostPartTries({ sql, turn }: Pick<Writer, 'sql' | 'turn'>): Promise<void> {
  const parts = await sql<
    (Part & {
      readonly turnId: string;
      readonly tries: number;
      readonly tokens: number;
      readonly snapshot: AgentSnapshot;
    })[]
  >`
    select p.compaction_id as "compactionId", c.turn_id as "turnId", p.number as part, p.unreported_tries as tries,
      p.input_estimate as tokens, a.content as snapshot
    from compactions c join compaction_parts p on p.compaction_id = c.id join turns t on t.id = c.turn_id
    join agent_snapshots a on a.hash = t.snapshot_hash
    where c.conversation_id = ${turn.conversationId} and c.status = 'planned' and p.unreported_tries > 0
      -- What is written is final, and what is extracted asks no model.
      and p.state <> 'written' and (c.form <> 'extractive_summary' or p.kind = 'flush')
    order by p.number`;
  for (const { compactionId, turnId, part, tries, tokens, snapshot } of parts) {
    const { model, prices } = snapshot.summarizer;
    const usage = estimatedUsage(tokens);
    await sql`
      update compaction_parts set unreported_tries = 0, model = ${model}, epoch = ${turn.epoch}
      where compaction_id = ${compactionId} and number = ${part}`;
    const call = { tries, usage, cost: costOf(usage, prices) };
    await payTries({ sql, turn }, { ...turn, turnId }, { compactionId, part }, call);
  }
}
