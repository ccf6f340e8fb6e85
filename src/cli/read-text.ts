import { UsageError } from './usage-error.ts';

/**
 * The text of an argument, or of standard input for `-`.
 * @throws UsageError when there is none
 */
export async function readText(argument: string, what: string): Promise<string> {
  const text = argument === '-' ? await readStandardInput(what) : argument;
  if (text.trim() !== '') return text;
  const where = argument === '-' ? ' on standard input' : '';
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
