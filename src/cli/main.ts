import { Command } from 'commander';
import { devCommand } from './dev.ts';
import { doctorCommand } from './doctor.ts';

/** Runs one command of the CLI. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('holdfast').description(
    'Durable agent turns that survive crashes and outlive the context window',
  );
  program.addCommand(devCommand()).addCommand(doctorCommand());
  await program.parseAsync([...argv]);
}
