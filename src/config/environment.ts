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
  variable('HOLDFAST_SIMULATOR_URL', 'Address of the simulator.', "the local stack's", URL_FORM),
  variable('HOLDFAST_MODEL', 'Model of every agent that names none.', '`defaultModel` of the file', MODEL_FORM),
  variable(
    'DATABASE_URL',
    'Address of Postgres; may hold a password.',
    "`database.url`, else the local stack's",
    {
      pattern: /^postgres(ql)?:\/\/\S+$/,
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
  form: EnvironmentVariable['form'],
  secret = false,
): EnvironmentVariable {
  return { name, meaning, defaultText, form, secret };
}

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
