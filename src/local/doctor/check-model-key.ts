import { broken, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** How a provider is asked for its models: the cheapest request that needs a key. */
interface KeyedProvider {
  readonly variable: string;
  readonly baseUrlVariable: string;
  readonly defaultUrl: string;
  readonly path: string;
  headers(key: string): Record<string, string>;
}

const PROVIDERS: readonly KeyedProvider[] = [
  {
    variable: 'ANTHROPIC_API_KEY',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    defaultUrl: 'https://api.anthropic.com',
    path: '/v1/models?limit=1',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  {
    variable: 'OPENAI_API_KEY',
    baseUrlVariable: 'OPENAI_BASE_URL',
    defaultUrl: 'https://api.openai.com/v1',
    path: '/models',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
  },
];

const TIMEOUT_MILLISECONDS = 5000;

/** Asks the provider whether it takes the key. The key itself never gets into what is returned. */
async function checkKey(provider: KeyedProvider, key: string, environment: NodeJS.ProcessEnv): Promise<Finding> {
  const check = 'model key';
  const { variable } = provider;
  if (key !== key.trim() || /["'\s]/.test(key)) {
    return broken(check, `${variable} contains blanks or quotes`, `set ${variable} again, without them`);
  }
  const baseUrl = (environment[provider.baseUrlVariable] || provider.defaultUrl).replace(/\/+$/, '');
  try {
    const response = await fetch(`${baseUrl}${provider.path}`, {
      headers: provider.headers(key),
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    await response.body?.cancel();
    if (response.status === 401 || response.status === 403) {
      return broken(
        check,
        `${baseUrl} refuses ${variable} (${response.status})`,
        'make a new key in the console of the provider',
      );
    }
    if (!response.ok)
      return warning(check, `${baseUrl} answers ${response.status}`, 'try again later; turns wait for it');
    return ok(check, `${variable} is accepted by ${baseUrl}`);
  } catch {
    return warning(check, `${variable} is set, but ${baseUrl} cannot be reached`, 'check the network or the base URL');
  }
}

/** One finding per key that is set; without any, models are simulated. */
export async function checkModelKeys(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const set = PROVIDERS.flatMap((provider) => {
    const key = environment[provider.variable] ?? '';
    return key === '' ? [] : [{ provider, key }];
  });
  if (set.length === 0)
    return [
      ok(
        'model key',
        'none set: npx holdfast dev runs the simulator (ANTHROPIC_API_KEY or OPENAI_API_KEY for real models)',
      ),
    ];
  return Promise.all(set.map(async ({ provider, key }) => checkKey(provider, key, environment)));
}
