import type { Command } from 'commander';
import { EXIT_CODES } from '../exit-codes.ts';
import { holdfastCommand, withJson } from '../holdfast-command.ts';
import type { JsonOption } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';

/** `holdfast config check`: every mistake of holdfast.yaml. */
export function configCheckCommand(): Command {
  return withJson(
    holdfastCommand('check', {
      description:
        'Reads holdfast.yaml, here or in a folder above, and the environment, and lists every mistake with its line and what is accepted. Says which file is in force.',
      examples: ['npx holdfast config check', 'npx holdfast --config staging.yaml config check --json'],
    }),
  ).action(check);
}

async function check(flags: JsonOption): Promise<void> {
  const output = openOutput();
  const [{ loadConfiguration }, { ConfigurationError, describeProblem }] = await Promise.all([
    import('../../config/load-configuration.ts'),
    import('../../config/errors.ts'),
  ]);
  try {
    const { file, agents, defaultModel } = loadConfiguration({
      directory: process.cwd(),
      environment: process.env,
    });
    const names = agents.map(({ name }) => name);
    if (flags.json === true) output.json({ valid: true, file, agents: names, defaultModel, problems: [] });
    else
      output.lines([
        file === null ? 'No holdfast.yaml here or above: defaults and the environment count.' : `${file} is valid.`,
        `  agents: ${names.join(', ')}; default model: ${defaultModel}`,
      ]);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const problems = error.problems.length > 0 ? error.problems.map(describeProblem) : [error.message];
    if (flags.json === true) output.json({ valid: false, problems });
    else output.lines(problems);
    process.exitCode = EXIT_CODES.findings.code;
  }
}
