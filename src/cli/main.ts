import { Command } from 'commander';

/** Runs one command of the CLI. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('holdfast').description(
    'Durable agent turns that survive crashes and outlive the context window',
  );
  await program.parseAsync([...argv]);
}
