import { BUILT_IN_PROVIDER_NAMES, resolveProviders } from '../../config/providers.ts';
import type { ResolvedProviders } from '../../config/providers.ts';
import { broken, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

type Provider = ResolvedProviders['available'][number];

const CHECK = 'model key';
const TIMEOUT_MILLISECONDS = 5000;

/** The built-in providers, when no `holdfast.yaml` can be read. */
export function providersOfEnvironment(environment: NodeJS.ProcessEnv): ResolvedProviders {
  return resolveProviders({}, environment, null, { directory: process.cwd(), onKey: () => undefined });
}

/** The cheapest request that needs a key. */
function listRequest({ protocol, baseUrl }: Provider, key: string): { url: string; headers: Record<string, string> } {
  if (protocol !== 'anthropic') return { url: `${baseUrl}/models`, headers: { authorization: `Bearer ${key}` } };
  const url = `${baseUrl.replace(/\/v1$/, '')}/v1/models?limit=1`;
  return { url, headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' } };
}

/** A finding instead of a key when its file or command gives none. */
async function readKey({ apiKey, key }: Provider): Promise<string | Finding> {
  if (key === undefined) return apiKey ?? '';
  try {
    return await key.current();
  } catch (error) {
    // The error of a key names its source and never what was read.
    const detail = error instanceof Error ? error.message : 'a key cannot be read';
    return broken(CHECK, detail, 'mend apiKeyFile or apiKeyCommand, or what they read');
  }
}

/** Asks the provider whether it takes the key. The key itself never gets into what is returned. */
async function checkKey(provider: Provider): Promise<Finding> {
  const key = await readKey(provider);
  if (typeof key !== 'string') return key;
  const named = `the key of ${provider.name}`;
  if (/["'\s]/.test(key))
    return broken(CHECK, `${named} contains blanks or quotes`, `set ${named} again, without them`);
  if (provider.hosting !== undefined) return ok(CHECK, `${named} is set; ${provider.hosting.cloud} is not asked`);
  const { url, headers } = listRequest(provider, key);
  const { baseUrl } = provider;
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
    await response.body?.cancel();
    const { status } = response;
    if (status === 401 || status === 403)
      return broken(CHECK, `${baseUrl} refuses ${named} (${status})`, 'make a new key in the console of the provider');
    if (status === 404)
      return warning(
        CHECK,
        `${baseUrl} lists no models (404), so ${named} was not tried`,
        'if turns fail: most servers want /v1 at the end of the base URL',
      );
    if (!response.ok) return warning(CHECK, `${baseUrl} answers ${status}`, 'try again later; turns wait for it');
    return ok(CHECK, `${baseUrl} lists its models with ${named}`);
  } catch {
    return warning(CHECK, `${named} is set, but ${baseUrl} cannot be reached`, 'check the network or the base URL');
  }
}

/** One finding per provider with a key, or that lacks the one that the file names; without any, models are simulated. */
export async function checkModelKeys({ available, unavailable }: ResolvedProviders): Promise<Finding[]> {
  const keyed = available.filter(({ apiKey, key }) => apiKey !== null || key !== undefined);
  const lacking = unavailable
    .filter(({ name, reason }) => reason === 'key_missing' && !BUILT_IN_PROVIDER_NAMES.includes(name))
    .map(({ name, variable }) => warning(CHECK, `the provider ${name} has no key`, `set ${variable}`));
  if (keyed.length + lacking.length === 0)
    return [
      ok(CHECK, 'none set: npx holdfast dev runs the simulator (ANTHROPIC_API_KEY or OPENAI_API_KEY for real models)'),
    ];
  return [...(await Promise.all(keyed.map(checkKey))), ...lacking];
}
