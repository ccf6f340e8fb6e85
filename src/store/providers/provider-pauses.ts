import type { Database, Transaction } from '../database/database.ts';
import { plainText } from '../log/stored-text.ts';

/** No worker calls the provider with this key before the time is over. A pause is never shortened, but one of a clock that jumped back is void. */
export async function pauseProvider(
  sql: Database | Transaction,
  pause: { readonly providerKey: string; readonly label: string; readonly milliseconds: number },
): Promise<void> {
  await sql`
    insert into provider_pauses (provider_key, label, paused_until)
    values (${pause.providerKey}, ${plainText(pause.label)}, holdfast_now() + make_interval(secs => ${pause.milliseconds / 1_000}))
    on conflict (provider_key) do update
      set label = excluded.label, paused_at = excluded.paused_at,
        paused_until = greatest(excluded.paused_until,
          case when provider_pauses.paused_at <= holdfast_now() then provider_pauses.paused_until end)`;
}

/** Milliseconds for which the provider wants no calls; 0: it takes them. */
export async function readPause(sql: Database | Transaction, providerKey: string): Promise<number> {
  const [row] = await sql<{ milliseconds: number }[]>`
    select ceil(extract(epoch from paused_until - holdfast_now()) * 1000)::float8 as milliseconds
    from provider_pauses
    where provider_key = ${providerKey} and paused_until > holdfast_now() and paused_at <= holdfast_now()`;
  return row?.milliseconds ?? 0;
}

export interface ProviderPause {
  readonly provider: string;
  readonly since: string;
  readonly until: string;
}

/** Pauses that stand, the longest first. Keys of one provider that are paused apart are one each. */
export async function listPauses(sql: Database): Promise<ProviderPause[]> {
  return sql<ProviderPause[]>`
    select label as provider, iso_time(paused_at) as since, iso_time(paused_until) as until from provider_pauses
    where paused_until > holdfast_now() and paused_at <= holdfast_now() order by paused_until desc, label`;
}

/** Calls are made again; what the provider refuses then pauses it anew. @returns whether one stood */
export async function endPause(sql: Database, provider: string): Promise<boolean> {
  const ended = await sql`
    delete from provider_pauses where label = ${provider} returning paused_until > holdfast_now() as stood`;
  return ended.some(({ stood }) => stood === true);
}
