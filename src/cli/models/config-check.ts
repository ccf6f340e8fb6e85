import { localCommand } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';

const check = localCommand({
  description:
    'Reads holdfast.yaml, here or in a folder above, and the environment. Lists every mistake with its line and what is accepted, and names the file that it read.',
  examples: ['npx holdfast config check', 'npx holdfast --config staging.yaml config check --json'],
  async run() {
    const [{ loadConfiguration }, { ConfigurationError, describeProblem }] = await Promise.all([
      import('../../config/load-configuration.ts'),
      import('../../config/errors.ts'),
    ]);
    try {
      const { file, agents, defaultModel } = loadConfiguration({ directory: process.cwd(), environment: process.env });
      const names = agents.map(({ name }) => name);
      return {
        json: { valid: true, file, agents: names, defaultModel, problems: [] },
        lines: [
          file === null ? 'No holdfast.yaml here or above: defaults and the environment count.' : `${file} is valid.`,
          `  agents: ${names.join(', ')}; default model: ${defaultModel}`,
        ],
      };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const problems = error.problems.length > 0 ? error.problems.map(describeProblem) : [error.message];
      process.exitCode = EXIT_CODES.findings.code;
      return { json: { valid: false, problems }, lines: problems };
    }
  },
});

export const commands = { check };
