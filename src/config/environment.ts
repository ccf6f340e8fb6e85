import { BUILT_IN_PROVIDERS } from './built-in-providers.ts';
import type { ConfigurationProblem } from './errors.ts';

/** The part of `process.env` that configuration reads. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface EnvironmentVariable {
  readonly name: string;
  readonly meaning: string;
  readonly defaultText: string;
  /** What a value must be; `null` for any text. */
  readonly form: { readonly pattern: RegExp; readonly words: string } | null;
  /** The value may hold a key or password: it is never shown. */
  readonly secret: boolean;
}

const URL_FORM = { pattern: /^https?:\/\/[^\s]+$/, words: 'an http or https address' };
const MODEL_FORM = { pattern: /^[^/\s]+\/\S+$/, words: 'provider/model, like simulator/sim-32k' };

/** Every variable that `loadConfiguration` reads; each wins over the file. */
export const ENVIRONMENT_VARIABLES: readonly EnvironmentVariable[] = [
  variable('ANTHROPIC_API_KEY', 'Key of the provider `anthropic`.', 'none', null, true),
  variable('ANTHROPIC_BASE_URL', 'Address of the provider `anthropic`.', '`https://api.anthropic.com`', URL_FORM),
  variable('OPENAI_API_KEY', 'Key of the provider `openai`.', 'none', null, true),
  variable('OPENAI_BASE_URL', 'Address of the provider `openai`.', '`https://api.openai.com/v1`', URL_FORM),
  variable('HOLDFAST_COMPATIBLE_BASE_URL', 'Address of the provider `openai-compatible`.', 'none', URL_FORM),
  variable('HOLDFAST_COMPATIBLE_API_KEY', 'Key of the provider `openai-compatible`.', 'none', null, true),
  ...Object.entries(BUILT_IN_PROVIDERS)
    .filter(([name]) => !/^(?:anthropic|openai.*|simulator.*)$/.test(name))
    .flatMap(([name, { keyVariable, addressVariable, defaultAddress }]) => {
      const address = variable(
        addressVariable,
        `Address of the provider \`${name}\`.`,
        `\`${defaultAddress}\``,
        URL_FORM,
      );
      if (keyVariable === null) return [address];
      return [variable(keyVariable, `Key of the provider \`${name}\`.`, 'none', null, true), address];
    }),
  variable('HOLDFAST_SIMULATOR_URL', 'Address of the simulator.', "the local stack's", URL_FORM),
  variable('HOLDFAST_MODEL', 'Model of every agent that names none.', '`defaultModel` of the file', MODEL_FORM),
  variable(
    'DATABASE_URL',
    'Address of Postgres; may hold a password.',
    "`database.url`, else the local stack's",
    {
      pattern: /^postgres(ql)?:\/\/\S*$/,
      words: 'an address that begins with postgres://',
    },
    true,
  ),
  variable(
    'DATABASE_LISTEN_URL',
    'Direct address of the same database, for notifications, if `DATABASE_URL` names a pooler; see docs/connections.md.',
    '`DATABASE_URL`',
    {
      pattern: /^postgres(ql)?:\/\/\S*$/,
      words: 'an address that begins with postgres://',
    },
    true,
  ),
  variable('TEMPORAL_ADDRESS', 'Address of Temporal.', "`temporal.address`, else the local stack's", {
    pattern: /^\S+:\d{1,5}$/,
    words: 'host:port',
  }),
  variable('TEMPORAL_NAMESPACE', 'Namespace in Temporal.', '`temporal.namespace`, else `default`', null),
];

function variable(
  name: string,
  meaning: string,
  defaultText: string,
  form: EnvironmentVariable['form'] = null,
  secret = false,
): EnvironmentVariable {
  return { name, meaning, defaultText, form, secret };
}

/** Variables that other parts read: processes and set-up, not agents. */
export const PROCESS_VARIABLES: readonly Pick<EnvironmentVariable, 'name' | 'meaning' | 'defaultText'>[] = [
  variable('TEMPORAL_API_KEY', 'Key for Temporal Cloud.', 'none'),
  variable(
    'TEMPORAL_PROFILE',
    'Profile of `temporal.toml`; see docs/connections.md, also for `TEMPORAL_TLS_*` and `TEMPORAL_CODEC_*`.',
    '`default`, where `TEMPORAL_CONFIG_FILE` is set',
  ),
  variable('TEMPORAL_CONFIG_FILE', 'Path of `temporal.toml`.', "the user's, for a profile"),
  variable(
    'HOLDFAST_CONFIG',
    'Path of the configuration file, as `--config` names it.',
    '`holdfast.yaml` here or in a folder above',
  ),
  variable(
    'HOLDFAST_DIRECTORY',
    "Folder of the local stack's state.",
    '`.holdfast` in the nearest folder upwards that has one',
  ),
  variable(
    'HOLDFAST_TASK_QUEUE',
    'Task queue of turns. The queue of database activities gets its name from it.',
    '`agent-turn`',
  ),
  variable(
    'HOLDFAST_DEPLOYMENT',
    'Temporal worker deployment of the worker; see docs/versions.md.',
    'workers are not versioned',
  ),
  variable('HOLDFAST_BUILD_ID', 'Build of the worker within its deployment.', 'none'),
  variable(
    'HOLDFAST_VERSIONING',
    'Whether an open turn stays on its build (`pinned`) or moves to the current one (`auto-upgrade`).',
    '`pinned`',
  ),
  variable('HOLDFAST_HEALTH_PORT', "Port of a worker's `/healthz` (it lives) and `/readyz` (it serves turns).", 'none'),
  variable('HOLDFAST_LOG_LEVEL', 'Lowest level that a worker logs: `debug`, `info`, `warn`, `error`.', '`info`'),
  variable(
    'HOLDFAST_RUN',
    '`dist` runs the compiled program in a clone too. It starts in half the time.',
    'the source',
  ),
  variable('HOLDFAST_DEBUG', '`1` shows the stack of an unexpected error.', 'off'),
  variable('HOLDFAST_CRASH_ORDERS', 'File that names crash points while a worker runs, for tests of recovery.', 'none'),
  variable('HOLDFAST_CRASH_POINTS', 'Points at which a worker kills itself, for tests of recovery.', 'none'),
  variable(
    'HOLDFAST_TEMPORAL_CLI',
    'Path of the Temporal CLI that the local stack starts.',
    'found or fetched by set-up',
  ),
  variable('HOLDFAST_TEMPORAL_DOWNLOAD', "Mirror of Temporal's download server.", '`https://temporal.download`'),
  variable(
    'HOLDFAST_LLAMA_PYTHON',
    'Python with the packages that `npm run test:llama` needs.',
    'one that it makes in `.holdfast/llama`',
  ),
  variable(
    'HOLDFAST_EMBEDDINGS_PYTHON',
    'Python with the packages that `npm run test:embeddings` needs.',
    'one that it makes in `.holdfast/embeddings`',
  ),
  variable(
    'HOLDFAST_KITS_PYTHON',
    'Python with the packages that `npm run test:compaction-kits` needs.',
    'one that it makes in `.holdfast/compaction-kits`',
  ),
  variable('HOLDFAST_CACHE', 'Folder of binaries that set-up fetches.', "the user's cache folder"),
];

/** A variable's value; one that is empty or blank counts as not set, as shells and compose files leave it. */
export function given(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

/** What is wrong with the variables that are set. */
export function environmentProblems(environment: Environment): readonly ConfigurationProblem[] {
  return ENVIRONMENT_VARIABLES.flatMap(({ name, form, secret }) => {
    const value = given(environment, name);
    if (value === undefined || form === null || form.pattern.test(value)) return [];
    const found = secret ? '' : ` (it is ${JSON.stringify(value)})`;
    return [
      { code: 'wrong_value' as const, option: name, message: `in the environment must be ${form.words}${found}` },
    ];
  });
}
