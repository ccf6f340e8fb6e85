export type ConfigurationErrorCode =
  /** `holdfast.yaml` exists and cannot be read. */
  | 'configuration_unreadable'
  /** Something in the file or the environment is wrong; `problems` names each. */
  | 'configuration_invalid'
  | 'agent_unknown'
  | 'agent_duplicate'
  | 'preset_unknown'
  | 'preset_duplicate'
  | 'reducer_duplicate'
  | 'model_invalid'
  | 'provider_unknown'
  /** The provider is known, but the variable that holds its key is not set. */
  | 'provider_key_missing'
  /** The simulator is asked for and its address is not known. */
  | 'provider_address_missing'
  /** An MCP server that an agent uses cannot be started, or its tools cannot be used. */
  | 'mcp_server_failed'
  /** A file of `modules` cannot be run, or exports neither an agent nor a tool. */
  | 'module_unusable';

/** One thing that is wrong. */
export interface ConfigurationProblem {
  readonly code:
    | 'syntax'
    | 'unknown_option'
    | 'wrong_value'
    | 'missing_option'
    /** A key or password stands where it would be stored. */
    | 'secret_in_file'
    /** The file names a command, and another user may have written it. */
    | 'untrusted_file'
    /** An agent has more tools than its model's provider takes. */
    | 'too_many_tools'
    /** Two numbers exclude each other. */
    | 'contradiction';
  /** Path of the option (`agents.reviewer.model`) or name of the environment variable. */
  readonly option: string;
  /** What is wrong with the offending value, and what is accepted. Never a key. */
  readonly message: string;
  /** Where it stands; absent for environment variables and for options given in code. */
  readonly place?: { readonly file: string; readonly line: number; readonly column: number };
}

/** The configuration cannot be used. The message lists every problem with file and line. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly code: ConfigurationErrorCode;
  readonly problems: readonly ConfigurationProblem[];

  constructor(
    code: ConfigurationErrorCode,
    message: string,
    options: ErrorOptions & { readonly problems?: readonly ConfigurationProblem[] } = {},
  ) {
    super(message, options);
    this.code = code;
    this.problems = options.problems ?? [];
  }
}

/** Place, option and what is wrong, in one line. */
export function describeProblem({ place, option, message }: ConfigurationProblem): string {
  const where = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `;
  return `${where}${option === '' ? '' : `${option} `}${message}`;
}

/** The error for a list of problems. */
export function invalidConfiguration(problems: readonly ConfigurationProblem[]): ConfigurationError {
  const lines = problems.map(describeProblem);
  const intro =
    problems.length === 1 ? 'The configuration is wrong:' : `The configuration has ${problems.length} problems:`;
  return new ConfigurationError('configuration_invalid', `${intro}\n${lines.map((line) => `  ${line}`).join('\n')}`, {
    problems,
  });
}
