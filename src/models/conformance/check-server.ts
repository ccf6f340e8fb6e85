import { AbortError } from '../call-failure.ts';
import { askServedLimits } from '../catalogue/served-limits.ts';
import { ModelCallError } from '../model-client.ts';
import { createModelClients } from '../model-clients.ts';
import type { ProviderDefinition } from '../provider.ts';
import { CAPABILITIES } from './capability.ts';
import type { Capability, ConformanceFinding, ConformanceReport } from './capability.ts';
import { CHECKS, notChecked } from './checks.ts';
import type { CheckedServer, ServedWindow, Verdict } from './checks.ts';
import { createProbe, failureWords } from './probe.ts';

export interface ConformanceOptions {
  readonly provider: ProviderDefinition;
  /** The server's own name of the model. */
  readonly model: string;
  /** Tokens, as the user knows them. Default: what the server's list of models says. */
  readonly window?: number;
  /** Default: all. */
  readonly only?: readonly Capability[];
  /** Tokens of the prefix that is sent twice. Default: 4,200 for Anthropic, 1,500 otherwise: above the smallest prefix that vendors cache. */
  readonly cacheTokens?: number;
  /** Seconds for everything; what has not been checked by then is not checked. Default: 60. */
  readonly seconds?: number;
  /** Told each finding as it is made. */
  readonly onFinding?: (finding: ConformanceFinding) => void;
}

/** Anthropic caches prefixes from 4,096 tokens on for its small models; OpenAI from 1,024. */
const CACHE_TOKENS = { anthropic: 4_200, chat: 1_500, responses: 1_500 } as const;

/**
 * Asks a live server about a dozen small things, one after another, and tells what works. The first
 * call decides whether the rest is worth trying. Never throws for what the server does.
 */
export async function checkServer(options: ConformanceOptions): Promise<ConformanceReport> {
  const { provider, model, window, only, cacheTokens = CACHE_TOKENS[provider.protocol], seconds = 60 } = options;
  const started = performance.now();
  const client = createModelClients([provider])(provider.name);
  const probe = createProbe(client, model, AbortSignal.timeout(seconds * 1_000));
  const server: CheckedServer = {
    cacheTokens,
    window: async () => (window === undefined ? servedWindow(provider, model) : { tokens: window, source: '--window' }),
  };
  const findings: ConformanceFinding[] = [];
  let reachable = true;
  for (const capability of CAPABILITIES) {
    // The first call is always made: without it nothing can be said of the others.
    if (capability !== 'streaming' && only?.includes(capability) === false) continue;
    const verdict =
      capability !== 'streaming' && probe.answers.length === 0
        ? notChecked('the first call failed')
        : await Promise.resolve()
            .then(() => CHECKS[capability](probe, server))
            .catch((error: unknown) => {
              if (capability === 'streaming') reachable = !isConnection(error);
              return failed(error, seconds);
            });
    const finding = { capability, ...verdict };
    findings.push(finding);
    options.onFinding?.(finding);
  }
  return {
    model,
    fits: reachable && findings.every(({ status }) => status !== 'fails'),
    reachable,
    findings,
    milliseconds: Math.round(performance.now() - started),
  };
}

function isConnection(error: unknown): boolean {
  return error instanceof ModelCallError && error.verdict.kind === 'retryable' && error.verdict.cause === 'connection';
}

function failed(error: unknown, seconds: number): Verdict {
  if (error instanceof AbortError) return notChecked(`the ${seconds} seconds were over: allow more with --seconds`);
  if (!(error instanceof ModelCallError)) throw error;
  const detail = failureWords(error);
  // A limit on the rate or an outage says nothing about what the server can do.
  return error.verdict.kind === 'retryable' && !isConnection(error) ? notChecked(detail) : { status: 'fails', detail };
}

/** The window that the server's list of models names; `null` when it names none or has no such list. */
async function servedWindow(provider: ProviderDefinition, model: string): Promise<ServedWindow | null> {
  // Without an address the plain SDK would turn to its vendor.
  if (provider.baseUrl === '') return null;
  const { window } = await askServedLimits(provider, model).catch((): { readonly window?: number } => ({}));
  return window === undefined ? null : { tokens: window, source: "the server's list of models" };
}
