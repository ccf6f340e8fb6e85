import type { ModelLimits } from '../context/plan.ts';
import { NOTHING_LEARNED, type LearnedLimits } from '../models/errors/learned-window.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database, Queries } from './database.ts';
import { isoTime, jsonText, plainText } from './stored-text.ts';
import { writeAsTurn } from './transaction.ts';

/** What a server told when it refused a request: a window, a cap on messages, on images and files, or several. */
export interface LearnedWindow {
  /** `provider/model`. */
  readonly model: string;
  /** Base address of the server. */
  readonly server: string;
  /** Tokens; `null`: no window was named. */
  readonly tokens: number | null;
  /** Most messages of a request; `null`: no cap was named. */
  readonly messages: number | null;
  /** Most images and files of a request; 0: it takes none; `null`: no cap was met. */
  readonly mediaParts: number | null;
  /** Most bytes of images and files of a request, in base64; `null`: no cap was met. */
  readonly mediaBytes: number | null;
  readonly learnedAt: string;
}

/** Stores what was learned, for this turn at once and for all later ones. @throws StoreError `stale_epoch` */
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
  const { model, server, tokens, messages, mediaParts, mediaBytes, evidence, limits } = learned;
  await writeAsTurn(sql, turn, async (writer) => {
    await writer.sql`
      insert into learned_windows (model, server, tokens, messages, media_parts, media_bytes, evidence)
      values (${model}, ${plainText(server)}, ${tokens}, ${messages}, ${mediaParts}, ${mediaBytes}, ${plainText(evidence)})
      on conflict (model, server) do update
      set tokens = coalesce(excluded.tokens, learned_windows.tokens),
        messages = coalesce(excluded.messages, learned_windows.messages),
        media_parts = coalesce(excluded.media_parts, learned_windows.media_parts),
        media_bytes = coalesce(excluded.media_bytes, learned_windows.media_bytes),
        evidence = excluded.evidence, learned_at = holdfast_now()`;
    await writer.sql`update turns set model_limits = ${jsonText(limits)}::text::json where id = ${turn.turnId} and model = ${model}`;
  });
}

/** What was learned of a model at a server within so many days. */
export async function readLearnedLimits(
  sql: Queries,
  { model, server }: { readonly model: string; readonly server: string },
  days: number,
): Promise<LearnedLimits> {
  const [row] = await sql<LearnedLimits[]>`
    select tokens, messages, media_parts as "mediaParts", media_bytes::float8 as "mediaBytes" from learned_windows
    where model = ${model} and server = ${plainText(server)}
      and learned_at > holdfast_now() - make_interval(days => ${days})`;
  return row ?? NOTHING_LEARNED;
}

/** All windows learned within so many days, by model. */
export async function listLearnedWindows(sql: Queries, days: number): Promise<LearnedWindow[]> {
  const rows = await sql<(Omit<LearnedWindow, 'learnedAt'> & { learned_at: Date })[]>`
    select model, server, tokens, messages, media_parts as "mediaParts", media_bytes::float8 as "mediaBytes", learned_at
    from learned_windows
    where learned_at > holdfast_now() - make_interval(days => ${days}) order by model, server`;
  return rows.map(({ learned_at: learnedAt, ...learned }) => Object.assign(learned, { learnedAt: isoTime(learnedAt) }));
}
