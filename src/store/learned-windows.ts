import type { ModelLimits } from '../context/plan.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database, Queries } from './database.ts';
import { isoTime, jsonText, plainText } from './stored-text.ts';
import { writeAsTurn } from './transaction.ts';

/** A window that a server named when it refused a request. */
export interface LearnedWindow {
  /** `provider/model`. */
  readonly model: string;
  /** Base address of the server. */
  readonly server: string;
  /** Tokens. */
  readonly tokens: number;
  readonly learnedAt: string;
}

/** Stores a learned window, for this turn at once and for all later ones. @throws StoreError `stale_epoch` */
export async function storeLearnedWindow(
  sql: Database,
  turn: TurnReference,
  learned: Omit<LearnedWindow, 'learnedAt'> & {
    /** Rule and numbers, without any text. */
    readonly evidence: string;
    /** The turn's limits from now on. */
    readonly limits: ModelLimits;
  },
): Promise<void> {
  const { model, server, tokens, evidence, limits } = learned;
  await writeAsTurn(sql, turn, async (writer) => {
    await writer.sql`
      insert into learned_windows (model, server, tokens, evidence)
      values (${model}, ${plainText(server)}, ${tokens}, ${plainText(evidence)})
      on conflict (model, server) do update
      set tokens = excluded.tokens, evidence = excluded.evidence, learned_at = holdfast_now()`;
    await writer.sql`update turns set model_limits = ${jsonText(limits)}::text::json where id = ${turn.turnId}`;
  });
}

/** What was learned of a model at a server within so many days; `null`: nothing. */
export async function readLearnedWindow(
  sql: Queries,
  { model, server }: { readonly model: string; readonly server: string },
  days: number,
): Promise<number | null> {
  const [row] = await sql<{ tokens: number }[]>`
    select tokens from learned_windows
    where model = ${model} and server = ${plainText(server)}
      and learned_at > holdfast_now() - make_interval(days => ${days})`;
  return row?.tokens ?? null;
}

/** All windows learned within so many days, by model. */
export async function listLearnedWindows(sql: Queries, days: number): Promise<LearnedWindow[]> {
  const rows = await sql<{ model: string; server: string; tokens: number; learned_at: Date }[]>`
    select model, server, tokens, learned_at from learned_windows
    where learned_at > holdfast_now() - make_interval(days => ${days}) order by model, server`;
  return rows.map(({ model, server, tokens, learned_at: learnedAt }) => ({
    model,
    server,
    tokens,
    learnedAt: isoTime(learnedAt),
  }));
}
