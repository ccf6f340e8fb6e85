import { localCommand } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';

const check = localCommand({
  description:
    'Reads holdfast.yaml, here or in a folder above, and the environment. Lists mistakes, each with its line and what is accepted, and names the file that it read.',
  examples: ['npx holdfast config check', 'npx holdfast --config staging.yaml config check --json'],
  async run() {
    const [
      { loadConfiguration },
      { requireNone },
      { ConfigurationError, describeProblem },
      { problemsOfWorker },
      { requireWorkspaces },
    ] = await Promise.all([
      import('../../config/load-configuration.ts'),
      import('../../config/configuration-source.ts'),
      import('../../config/errors.ts'),
      import('../../config/check/check-for-worker.ts'),
      import('../../config/check/check-workspaces.ts'),
    ]);
    try {
      const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
      requireNone(problemsOfWorker(configuration));
      requireWorkspaces(configuration);
      const { file, agents, defaultModel } = configuration;
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
