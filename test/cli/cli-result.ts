import type { z } from 'zod';

export interface CliOptions {
  /** Added to an environment without any of Holdfast's variables, except the one that names the compiled program. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: a folder without a stack and a configuration. */
  readonly directory?: string;
  /** Standard input. Default: none. */
  readonly input?: string;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables of Holdfast's own, which the tests' environment does not hand down; `HOLDFAST_RUN` names the compiled program. */
export const OWN_VARIABLE = /^(?:HOLDFAST_(?!RUN$)|TEMPORAL_|DATABASE_URL$|ANTHROPIC_|OPENAI_|NO_COLOR$|FORCE_COLOR$)/u;

/** The one JSON object that a command printed, checked by a zod schema. */
export function parseOutput<Schema extends z.ZodType>(result: CliResult, schema: Schema): z.output<Schema> {
  return schema.parse(JSON.parse(result.stdout));
}
