import type { Database, Queries } from './database.ts';
import { isoTime, plainText } from './stored-text.ts';

/** What a server's own list said of a model. */
export interface ServedModel {
  /** `provider/model`. */
  readonly model: string;
  /** Base address of the server. */
  readonly server: string;
  /** Tokens; `null`: the list does not say. */
  readonly window: number | null;
  /** Tokens; `null`: the list does not say. */
  readonly maximumOutput: number | null;
  readonly listedAt: string;
}

interface ServedColumns {
  readonly model: string;
  readonly server: string;
  readonly window_tokens: number | null;
  readonly maximum_output: number | null;
  readonly listed_at: Date;
}

/** Stores what a server listed; an earlier listing is replaced. */
export async function storeServedModel(sql: Database, served: Omit<ServedModel, 'listedAt'>): Promise<void> {
  const { model, server, window, maximumOutput } = served;
  await sql`
    insert into served_models (model, server, window_tokens, maximum_output)
    values (${model}, ${plainText(server)}, ${window}, ${maximumOutput})
    on conflict (model, server) do update
    set window_tokens = excluded.window_tokens, maximum_output = excluded.maximum_output, listed_at = holdfast_now()`;
}

/** All that servers listed, by model. @param of only this model at this server */
export async function listServedModels(
  sql: Queries,
  of?: { readonly model: string; readonly server: string },
): Promise<ServedModel[]> {
  const only = of === undefined ? sql`` : sql`where model = ${of.model} and server = ${plainText(of.server)}`;
  const rows = await sql<ServedColumns[]>`
    select model, server, window_tokens, maximum_output, listed_at from served_models ${only} order by model, server`;
  return rows.map((row) => ({
    model: row.model,
    server: row.server,
    window: row.window_tokens,
    maximumOutput: row.maximum_output,
    listedAt: isoTime(row.listed_at),
  }));
}
