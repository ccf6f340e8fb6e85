import { numberOf, property } from '../protocols/json.ts';
import { createAnthropicSdk, createOpenAISdk } from '../protocols/sdk.ts';
import type { ProviderDefinition } from '../provider.ts';

/** What a server's own list says of a model; what it does not say is absent. */
export interface ServedLimits {
  /** Tokens. */
  readonly window?: number;
  /** Tokens. */
  readonly maximumOutput?: number;
}

/** Fields in which servers tell a model's window, the surest first (vLLM; OpenRouter, Groq, Mistral; Anthropic; llama.cpp). */
const WINDOW_FIELDS = [
  ['max_model_len'],
  ['context_window'],
  ['context_length'],
  ['max_context_length'],
  ['max_input_tokens'],
  ['meta', 'n_ctx'],
  ['meta', 'n_ctx_train'],
] as const;

/** Fields for the longest answer (Anthropic; Groq; OpenRouter). */
const OUTPUT_FIELDS = [
  ['max_tokens'],
  ['max_completion_tokens'],
  ['max_output_tokens'],
  ['top_provider', 'max_completion_tokens'],
] as const;

/** Reads one model of a server's list. */
export function readServedLimits(listed: unknown): ServedLimits {
  const first = (fields: readonly (readonly string[])[]): number | undefined =>
    fields.map((path) => numberOf(property(listed, ...path))).find((tokens) => tokens !== undefined && tokens > 0);
  const window = first(WINDOW_FIELDS);
  const maximumOutput = first(OUTPUT_FIELDS);
  return {
    ...(window === undefined ? {} : { window }),
    // Some servers give the window here as well: an answer is never that long.
    ...(maximumOutput === undefined || maximumOutput === window ? {} : { maximumOutput }),
  };
}

/** Asks a server for what it lists of a model. Rejects as its SDK does: many servers have no such list. */
export async function askServedLimits(provider: ProviderDefinition, model: string): Promise<ServedLimits> {
  const { models } = await (provider.protocol === 'anthropic'
    ? createAnthropicSdk(provider)
    : createOpenAISdk(provider));
  return readServedLimits(await listedModel(models, model));
}

/** The part of both SDKs that knows models. */
interface ModelList {
  retrieve(model: string): Promise<unknown>;
  list(): Promise<{ readonly data: readonly { readonly id: string }[] }>;
}

async function listedModel(models: ModelList, model: string): Promise<unknown> {
  // Some servers list a model only, others know one that they do not list.
  const one = await models.retrieve(model).catch(() => undefined);
  if (one !== undefined) return one;
  const { data } = await models.list();
  return data.find(({ id }) => id === model) ?? (data.length === 1 ? data[0] : undefined);
}
