/** Marks every process that a call starts, so that strays can be found by it, also by the successor of a killed worker. */
export const TOOL_CALL_MARKER = 'HOLDFAST_TOOL_CALL';

/** What a program needs to find its way, as sudo and ssh pass it on: a list of what is secret would never be complete. */
export const COMMAND_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'];

/** Keeps programs from waiting for a person: pagers, password prompts, colours. */
const NON_INTERACTIVE = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' } as const;

export interface ChildEnvironmentOptions {
  /** The worker's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of further variables that the child gets. Default: none. */
  readonly passedOn?: readonly string[];
  /** Values that no variable of the child may contain, whatever its name: provider keys. */
  readonly secrets: readonly string[];
  readonly idempotencyKey: string;
}

/** The environment of a command: the few variables of the worker that are passed on, and the marker. Pure. */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const kept = Object.entries(passedOnVariables(options.environment, options.passedOn)).filter(
    ([, value]) => !options.secrets.some((secret) => secret !== '' && value.includes(secret)),
  );
  return { ...Object.fromEntries(kept), ...NON_INTERACTIVE, [TOOL_CALL_MARKER]: options.idempotencyKey };
}

/** What every program gets of the worker's environment, and the variables that are named. Pure. */
export function passedOnVariables(
  environment: ChildEnvironmentOptions['environment'],
  named: readonly string[] = [],
): Record<string, string> {
  const names = new Set([...COMMAND_VARIABLES, ...named]);
  return Object.fromEntries(
    Object.entries(environment).filter(
      (variable): variable is [string, string] =>
        variable[1] !== undefined && (names.has(variable[0]) || variable[0].startsWith('LC_')),
    ),
  );
}
