import type { ModelLimits } from '../../context/plan/plan.ts';
import type { ModelPrices } from '../../turn/agent-snapshot.ts';
import { plainModelName } from '../../context/policy/budget.ts';
import { BUILT_IN_MODELS, BUILT_IN_SOURCE } from './built-in-models.ts';
import { parseModelName } from './model-name.ts';

/** What Holdfast knows of a model. */
export interface ModelFacts {
  readonly limits: ModelLimits;
  readonly prices: ModelPrices;
  /** False when the numbers are the safe default: the user is told so. */
  readonly known: boolean;
  /** Where the numbers come from, with their day where they have one. */
  readonly source: string;
}

/** What configuration may say of a model; what it leaves out comes from the table. */
export interface ModelOverride {
  /** Tokens. */
  readonly window?: number;
  /** Tokens; smaller than the window when the vendor caps the input. */
  readonly maximumInput?: number;
  /** Tokens. */
  readonly maximumOutput?: number;
  /** Dollars per million tokens. */
  readonly prices?: Partial<ModelPrices>;
}

const UNKNOWN_PRICES: ModelPrices = { input: null, output: null, cacheRead: null, cacheWrite: null };

/** The simulator bills nothing. */
const FREE: ModelPrices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/**
 * Small enough for every model that agents are used with, large enough to work in; an unknown
 * model that is asked for more fails late and expensively.
 */
const SAFE_LIMITS: ModelLimits = { window: 128_000, maximumOutput: 8_192 };

/** `sim-<N>k` of the providers `simulator`, `simulator-chat` and `simulator-responses`: a window of N × 1,024 tokens. */
const SIMULATED_MODEL = /^sim-(\d{1,6})k$/;

/** What a server's own list says of a model; `null` where it says nothing. */
export interface ListedLimits {
  /** Tokens. */
  readonly window: number | null;
  /** Tokens. */
  readonly maximumOutput: number | null;
  /** ISO time. */
  readonly listedAt: string;
}

/**
 * Limits and prices of a model named `provider/model`. What its server lists wins over the table, an
 * override over both, field by field; a window from either makes an unknown model known.
 * @throws Error when the name is not of the form `provider/model`.
 */
export function modelFacts(
  name: string,
  overrides: Readonly<Record<string, ModelOverride>> = {},
  listed: ListedLimits | null = null,
): ModelFacts {
  const table = withListed(tableFacts(name), listed);
  const override = overrides[name];
  if (override === undefined) return table;
  const window = override.window ?? table.limits.window;
  const maximumInput = override.maximumInput ?? (override.window === undefined ? table.limits.maximumInput : undefined);
  const maximumOutput = override.maximumOutput ?? Math.min(table.limits.maximumOutput, window);
  return {
    limits: { window, maximumOutput, ...(maximumInput === undefined ? {} : { maximumInput }) },
    prices: pricesOf(table.prices, override.prices),
    known: table.known || override.window !== undefined,
    source: table.known ? `holdfast.yaml over ${table.source}` : 'holdfast.yaml',
  };
}

/** Where nothing is said of cached input it costs what other input does: unknown, it would never count toward a limit of cost. */
function pricesOf(table: ModelPrices, given: Partial<ModelPrices> = {}): ModelPrices {
  const prices = { ...table, ...given };
  const { input } = given;
  if (input === undefined) return prices;
  const { cacheRead = table.cacheRead ?? input, cacheWrite = table.cacheWrite ?? input } = given;
  return { ...prices, cacheRead, cacheWrite };
}

function withListed(table: ModelFacts, listed: ListedLimits | null): ModelFacts {
  if (listed === null) return table;
  const { limits } = table;
  const window = listed.window ?? limits.window;
  const longest = listed.maximumOutput ?? limits.maximumOutput;
  return {
    ...table,
    limits: {
      window,
      maximumOutput: Math.min(longest, window),
      ...(limits.maximumInput === undefined ? {} : { maximumInput: Math.min(limits.maximumInput, window) }),
    },
    known: table.known || listed.window !== null,
    source: `its server, ${listed.listedAt.slice(0, 10)}${table.known ? `, over ${table.source}` : ''}`,
  };
}

/** Vendors whose models clouds and routers offer under longer names, with the same window and mostly for the same price. */
const VENDORS = ['anthropic', 'openai', 'google', 'xai', 'deepseek', 'mistral'];

function ofVendor(model: string): Pick<ModelFacts, 'limits' | 'prices'> | undefined {
  const name = plainModelName(model);
  return VENDORS.map((vendor) => BUILT_IN_MODELS.get(`${vendor}/${name}`)).find((facts) => facts !== undefined);
}

function tableFacts(name: string): ModelFacts {
  const { provider, model } = parseModelName(name);
  const simulated = /^simulator(-chat|-responses)?$/.test(provider) ? SIMULATED_MODEL.exec(model) : null;
  if (simulated !== null && Number(simulated[1]) > 0) {
    const window = Number(simulated[1]) * 1_024;
    return {
      limits: { window, maximumOutput: Math.min(8_192, Math.floor(window / 4)) },
      prices: FREE,
      known: true,
      source: 'simulator',
    };
  }
  const known = BUILT_IN_MODELS.get(`${provider}/${model}`) ?? ofVendor(model);
  if (known !== undefined) return { ...known, known: true, source: BUILT_IN_SOURCE };
  return { limits: SAFE_LIMITS, prices: UNKNOWN_PRICES, known: false, source: 'unknown model: safe default' };
}
