import type { ModelLimits } from '../../context/plan/plan.ts';
import { NOTHING_LEARNED, type LearnedLimits } from '../../models/errors/learned-window.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Fragment, Queries } from '../database/database.ts';
import { jsonText, plainText } from '../log/stored-text.ts';
import { writeAsTurn } from '../database/transaction.ts';

interface ModelAtServer {
  /** `provider/model`. */
  readonly model: string;
  /** Base address of the server. */
  readonly server: string;
}

export interface LearnedWindow extends ModelAtServer, LearnedLimits {
  readonly tenant: string;
  readonly learnedAt: string;
}

/** What a server's own list says about a model. */
export interface ServedModel extends ModelAtServer {
  /** Tokens. `null`: the list does not say. */
  readonly window: number | null;
  /** Tokens. `null`: the list does not say. */
  readonly maximumOutput: number | null;
  readonly listedAt: string;
}

/**
 * Stores limits of a refusal, for this turn at once and for all later ones of its tenant.
 * @param learned `limits`: the turn's limits from now on
 */
export async function storeLearnedWindow(
  sql: Database,
  turn: TurnReference,
  learned: ModelAtServer & LearnedLimits & { readonly limits: ModelLimits },
): Promise<void> {
  const { model, server, tokens, mediaParts, mediaBytes, limits } = learned;
  await writeAsTurn(sql, turn, async (writer) => {
    await writer.sql`
      insert into model_facts as f (model, server, tenant, learned_at, learned_window, learned_media_parts,
        learned_media_bytes)
      select ${model}, ${plainText(server)}, c.tenant, holdfast_now(), ${tokens}::int, ${mediaParts}::int,
        ${mediaBytes}::bigint
      from conversations c where c.id = ${turn.conversationId}
      on conflict (model, server, tenant) do update
      set learned_at = excluded.learned_at,
        learned_window = coalesce(excluded.learned_window, f.learned_window),
        learned_media_parts = coalesce(excluded.learned_media_parts, f.learned_media_parts),
        learned_media_bytes = coalesce(excluded.learned_media_bytes, f.learned_media_bytes)`;
    await writer.sql`update turns set model_limits = ${jsonText(limits)}::text::json where id = ${turn.turnId} and model = ${model}`;
  });
}

export async function readLearnedLimits(
  sql: Queries,
  of: ModelAtServer & { readonly conversationId: string },
  days: number,
): Promise<LearnedLimits> {
  const ofTenant = sql`${isOf(sql, of)} and tenant = (select c.tenant from conversations c where c.id = ${of.conversationId})`;
  const [learned] = await selectLearned(sql, days, ofTenant);
  return learned ?? NOTHING_LEARNED;
}

export async function listLearnedWindows(sql: Queries, days: number): Promise<LearnedWindow[]> {
  return selectLearned(sql, days, sql`true`);
}

function selectLearned(sql: Queries, days: number, which: Fragment) {
  return sql<LearnedWindow[]>`
    select model, server, tenant, learned_window as tokens, learned_media_parts as "mediaParts",
      learned_media_bytes::float8 as "mediaBytes", iso_time(learned_at) as "learnedAt"
    from model_facts
    where ${which} and learned_at > holdfast_now() - make_interval(days => ${days}) order by model, server, tenant`;
}

export async function storeServedModel(sql: Database, served: Omit<ServedModel, 'listedAt'>): Promise<void> {
  const { model, server, window, maximumOutput } = served;
  await sql`
    insert into model_facts (model, server, tenant, listed_at, listed_window, listed_maximum_output)
    values (${model}, ${plainText(server)}, '', holdfast_now(), ${window}, ${maximumOutput})
    on conflict (model, server, tenant) do update
    set listed_at = excluded.listed_at, listed_window = excluded.listed_window,
      listed_maximum_output = excluded.listed_maximum_output`;
}

export async function listServedModels(sql: Queries, of?: ModelAtServer): Promise<ServedModel[]> {
  return sql<ServedModel[]>`
    select model, server, listed_window as window, listed_maximum_output as "maximumOutput", iso_time(listed_at) as "listedAt"
    from model_facts where ${of === undefined ? sql`true` : isOf(sql, of)} and tenant = '' order by model, server`;
}

function isOf(sql: Queries, { model, server }: ModelAtServer) {
  return sql`model = ${model} and server = ${plainText(server)}`;
}
