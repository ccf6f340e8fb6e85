import { AbortError } from '../call-failure.ts';
import { ModelCallError } from '../model-client.ts';
import { createModelClients } from '../model-clients.ts';
import type { ProviderDefinition } from '../provider.ts';
import { checkCacheUsage, checkCutAnswer, checkImages, checkStreaming, checkUsage } from './answer-checks.ts';
import { CAPABILITIES } from './capability.ts';
import type { Capability, ConformanceFinding, ConformanceReport, Verdict } from './capability.ts';
import { checkOverflowShape } from './overflow-check.ts';
import { failureWords, Probe } from './probe.ts';
import { checkCountEndpoint, servedWindow } from './server-facts.ts';
import { checkParallelCalls, checkThinking, checkToolCalls } from './tool-checks.ts';

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

const DEFAULT_SECONDS = 60;
/** Anthropic caches prefixes from 4,096 tokens on for its small models; OpenAI from 1,024. */
const CACHE_TOKENS = { anthropic: 4_200, chat: 1_500, responses: 1_500 } as const;

type Check = (probe: Probe) => Promise<Verdict> | Verdict;

/**
 * Asks a live server about a dozen small things, one after another, and tells what works. The first
 * call decides whether the rest is worth trying. Never throws for what the server does.
 */
export async function checkServer(options: ConformanceOptions): Promise<ConformanceReport> {
  const { provider, model, seconds = DEFAULT_SECONDS } = options;
  const started = performance.now();
  const deadline = AbortSignal.timeout(seconds * 1_000);
  const probe = new Probe({ client: createModelClients([provider])(provider.name), model, signal: deadline });
  const checks = checksOf(options);
  const findings: ConformanceFinding[] = [];
  let stoppedBy: string | null = null;
  let isReachable = true;
  // Everything that is said about answers needs the first one.
  for (const capability of wanted(options.only)) {
    const made: Outcome = stoppedBy === null ? await run(checks[capability], probe, seconds) : skipped(stoppedBy);
    if (capability === 'streaming' && made.error !== undefined) {
      stoppedBy = 'the first call failed';
      isReachable = made.error !== 'connection';
    }
    const finding = { capability, ...made.verdict };
    findings.push(finding);
    options.onFinding?.(finding);
  }
  return {
    model,
    fits: isReachable && findings.every(({ status }) => status !== 'fails'),
    reachable: isReachable,
    findings,
    milliseconds: Math.round(performance.now() - started),
  };
}

/** The first call is always made: without it nothing can be said of the others. */
function wanted(only: readonly Capability[] | undefined): readonly Capability[] {
  return CAPABILITIES.filter((name) => name === 'streaming' || only === undefined || only.includes(name));
}

function checksOf({ provider, model, window, cacheTokens }: ConformanceOptions): Readonly<Record<Capability, Check>> {
  const words = cacheTokens ?? CACHE_TOKENS[provider.protocol];
  return {
    streaming: checkStreaming,
    usage: checkUsage,
    cut_answer: checkCutAnswer,
    tool_calls: checkToolCalls,
    parallel_calls: checkParallelCalls,
    thinking: checkThinking,
    images: checkImages,
    cache_usage: (probe) => checkCacheUsage(probe, words),
    count_endpoint: (probe) => checkCountEndpoint(provider, probe),
    overflow_shape: async (probe) =>
      checkOverflowShape(
        probe,
        window === undefined ? await servedWindow(provider, model) : { tokens: window, source: '--window' },
      ),
  };
}

interface Outcome {
  readonly verdict: Verdict;
  /** What kind of failure kept the check from its end. */
  readonly error?: 'connection' | 'refused';
}

function skipped(why: string): Outcome {
  return { verdict: { status: 'not_checked', detail: why } };
}

async function run(check: Check, probe: Probe, seconds: number): Promise<Outcome> {
  try {
    return { verdict: await check(probe) };
  } catch (error) {
    if (error instanceof AbortError) return skipped(`the ${seconds} seconds were over: allow more with --seconds`);
    if (!(error instanceof ModelCallError)) throw error;
    const { verdict } = error;
    const detail = failureWords(error);
    if (verdict.kind !== 'retryable') return { verdict: { status: 'fails', detail }, error: 'refused' };
    if (verdict.cause === 'connection') return { verdict: { status: 'fails', detail }, error: 'connection' };
    // A limit on the rate or an outage says nothing about what the server can do.
    return { verdict: { status: 'not_checked', detail }, error: 'refused' };
  }
}
