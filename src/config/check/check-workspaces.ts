import { statSync } from 'node:fs';
import type { Configuration } from '../configuration.ts';
import { invalidConfiguration, type ConfigurationProblem } from '../errors.ts';

/**
 * A turn in a folder that is not there would fail at its first file. Not asked where no agent works: folders may exist on
 * the workers' machines only.
 * @param only name of the one agent that matters. Default: all
 * @throws ConfigurationError naming each workspace that is no folder, with its place in the file
 */
export function requireWorkspaces({ agents, placeOf }: Pick<Configuration, 'agents' | 'placeOf'>, only?: string): void {
  const problems = agents.flatMap(({ name, workspace }): ConfigurationProblem[] => {
    if (only !== undefined && name !== only) return [];
    if (statSync(workspace, { throwIfNoEntry: false })?.isDirectory() === true) return [];
    const place = placeOf(['agents', name, 'workspace']);
    const message = `is ${JSON.stringify(workspace)}, which is no folder: create it or name another`;
    return [
      {
        code: 'wrong_value',
        message,
        ...(place === undefined
          ? { option: `agent ${name}: workspace` }
          : { option: `agents.${name}.workspace`, place }),
      },
    ];
  });
  if (problems.length > 0) throw invalidConfiguration(problems);
}
