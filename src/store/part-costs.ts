import type { ReportedUsage } from '../models/model-client.ts';
import type { TurnWriter } from './transaction.ts';
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
  const lost = row?.unreported ?? 0;
  for (let paid = 0; paid <= lost; paid += 1) {
    await sql`update compaction_parts set ${usageSums(sql, usage, cost)} ${where}`;
    await addUsage(sql, turn, usage, cost);
  }
  if (lost === 0) return;
  await sql`
    update compaction_parts set unreported_tries = 0, lost_calls = lost_calls + ${lost},
      lost_cost = lost_cost + ${lost * (cost ?? 0)} ${where}`;
}
