import { BUILT_IN_TOOL_NAMES, RUN_COMMAND } from '../../tools/runtime/names.ts';
import { didYouMean } from '../../tools/runtime/nearest-name.ts';
import type { Configuration } from '../configuration.ts';
import type { FoundProblem } from './describe-option-problem.ts';
import type { ConfigurationProblem } from '../errors.ts';
import type { AgentOptions } from '../options/options.ts';

/** What is wrong with the tools that an agent names. @param toolNames all tools of the worker, when they are known. Pure. */
export function toolProblems(
  name: string,
  agent: AgentOptions,
  toolNames: readonly string[] | undefined,
): FoundProblem[] {
  const known = toolNames ?? BUILT_IN_TOOL_NAMES;
  const problems = (agent.tools ?? []).flatMap((tool, index): FoundProblem[] => {
    if (known.includes(tool)) return [];
    // Without the worker's own list, only what looks like a slip is refused: the name may be a tool of the user's.
    if (toolNames === undefined && didYouMean(tool, known) === '') return [];
    return [{ code: 'wrong_value', path: ['agents', name, 'tools', index], message: noSuchTool(tool, known) }];
  });
  if (agent.tools?.includes(RUN_COMMAND) !== true || agent.allowCommands === true) return problems;
  const message =
    `names ${RUN_COMMAND}, which needs allowCommands: true, because a command is not confined to the workspace ` +
    'and can do whatever the user of the worker can';
  return [
    ...problems,
    { code: 'missing_option', path: ['agents', name, 'tools', agent.tools.indexOf(RUN_COMMAND)], message },
  ];
}

/** Tools that agents name and a worker lacks, those of agents of code as well. Pure. */
export function missingToolProblems(
  { agents }: Pick<Configuration, 'agents'>,
  toolNames: readonly string[],
): ConfigurationProblem[] {
  return agents.flatMap(({ name, tools }) =>
    tools.flatMap((tool, index): ConfigurationProblem[] => {
      if (toolNames.includes(tool)) return [];
      const message = noSuchTool(tool, toolNames);
      return [{ code: 'wrong_value', option: `agent ${name}: tools[${index}]`, message }];
    }),
  );
}

function noSuchTool(tool: string, known: readonly string[]): string {
  return `is ${JSON.stringify(tool)}, which is no tool${didYouMean(tool, known)} (there are: ${known.join(', ')}; your own come from modules or createWorker)`;
}
