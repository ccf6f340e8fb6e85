/** Marks every process that a call starts, so that strays can be found by it, also by the successor of a killed worker. */
export const TOOL_CALL_MARKER = 'HOLDFAST_TOOL_CALL';

/** Holdfast's own credentials and addresses: a command has no use for them. */
const OWN_VARIABLES = /^(ANTHROPIC_|OPENAI_|HOLDFAST_|TEMPORAL_|DATABASE_URL$|PGPASSWORD$)/;

/** Keeps programs from waiting for a person: pagers, password prompts, colours. */
const NON_INTERACTIVE = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' } as const;

export interface ChildEnvironmentOptions {
  /** The worker's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Values that no variable of the child may contain, whatever its name: provider keys. */
  readonly secrets: readonly string[];
  readonly idempotencyKey: string;
}

/** The environment of a command: the worker's, without Holdfast's keys and addresses, with the marker. Pure. */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const kept = Object.entries(options.environment).filter((variable): variable is [string, string] => {
    const [name, value] = variable;
    if (value === undefined || OWN_VARIABLES.test(name)) return false;
    return !options.secrets.some((secret) => secret !== '' && value.includes(secret));
  });
  return { ...Object.fromEntries(kept), ...NON_INTERACTIVE, [TOOL_CALL_MARKER]: options.idempotencyKey };
}
