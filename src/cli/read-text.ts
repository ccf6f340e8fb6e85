import { UsageError } from './usage-error.ts';
import { argument } from './options.ts';
import type { TypedArgument } from './options.ts';

/** An argument with a text, or `-` for standard input. @throws UsageError for an empty one, before anything is connected to */
export function textArgument(flags: string, description: string, what: string): TypedArgument<string> {
  return argument(flags, description, (text: string) => filled(text, what, ''));
}

/**
 * The text of an argument, or of standard input for `-`.
 * @throws UsageError when there is none
 */
export async function readText(text: string, what: string): Promise<string> {
  return text === '-' ? filled(await readStandardInput(what), what, ' on standard input') : text;
}

function filled(text: string, what: string, where: string): string {
  if (text.trim() !== '') return text;
  throw new UsageError(
    'usage',
    `The ${what} is empty${where}.`,
    `Write the ${what} in quotes, or \`-\` to read it from standard input.`,
  );
}

/** All of standard input; on a terminal says what to type. */
export async function readStandardInput(what: string): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write(`Type the ${what}; Ctrl-D ends it.\n`);
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
}
