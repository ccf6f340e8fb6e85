import { existsSync } from 'node:fs';
import { createBuiltInTools } from '../../tools/builtin/built-in-tools.ts';
import { createToolRegistry } from '../../tools/runtime/registry.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfigurationProblem } from '../errors.ts';
import { approvalRuleProblems } from './check-approvals.ts';
import { toolCountProblems } from './check-tool-count.ts';

/** What a worker would refuse at its start, as far as that is seen without its own tools. */
export function problemsOfWorker(configuration: Configuration): ConfigurationProblem[] {
  const tools = createToolRegistry(createBuiltInTools({ environment: process.env, secrets: [] }));
  const missing = configuration.modules.filter((path) => !existsSync(path));
  return [
    ...missing.map((path): ConfigurationProblem => ({
      code: 'wrong_value',
      option: 'modules',
      message: `names ${JSON.stringify(path)}, which is not there: correct it, or take it out`,
    })),
    ...toolCountProblems(configuration),
    ...approvalRuleProblems(configuration, tools),
  ];
}
