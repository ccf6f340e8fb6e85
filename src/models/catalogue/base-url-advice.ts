import type { ModelCallError } from '../model-client.ts';
import type { ProviderDefinition } from '../provider.ts';

/** The base URL with the `/v1` that OpenAI's SDK wants in it; `null` when it has a path, or needs none (Anthropic's is taken with and without). */
export function otherAddress({ protocol, baseUrl }: Pick<ProviderDefinition, 'protocol' | 'baseUrl'>): string | null {
  if (protocol === 'anthropic' || !URL.canParse(baseUrl) || new URL(baseUrl).pathname !== '/') return null;
  return `${baseUrl.replace(/\/$/, '')}/v1`;
}

/**
 * The error with advice before the server's words, when there was nothing at a base URL that lacks `/v1`: "404 page not found" alone
 * tells nobody what to mend. A server that speaks of a model knows the path.
 */
export function withBaseUrlAdvice(error: ModelCallError, provider: ProviderDefinition): ModelCallError {
  const { status, verdict, vendorMessage } = error;
  const other = otherAddress(provider);
  if (status !== 404 || verdict.kind !== 'permanent' || other === null || provider.hosting !== undefined) return error;
  if (/\bmodel\b/i.test(vendorMessage)) return error;
  const advice = `nothing is served at the base URL ${provider.baseUrl} (HTTP 404); ${other} may be meant: set providers.${provider.name}.baseUrl in holdfast.yaml`;
  return error.meaning(
    { ...verdict, evidence: `${verdict.evidence}, at a base URL without /v1` },
    vendorMessage === '' ? advice : `${advice}. The server says: ${vendorMessage}`,
  );
}
