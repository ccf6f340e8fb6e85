import { existsSync } from 'node:fs';
import { definedOf } from '../../context/policy/defined-of.ts';
import { createBuiltInTools } from '../../tools/builtin/built-in-tools.ts';
import { createToolRegistry } from '../../tools/runtime/registry.ts';
import type { ApprovalRule } from '../../turn/approval-rules.ts';
import type { Configuration } from '../configuration.ts';
import type { AgentDefinition } from '../definitions.ts';
import type { ConfigurationProblem } from '../errors.ts';
import { serverNamed } from '../mcp-servers.ts';
import { approvalRuleProblems } from './check-approvals.ts';
import { toolCountProblems } from './check-tool-count.ts';

/** What a worker would refuse at its start, as far as that is seen without its own tools. */
export function problemsOfWorker(configuration: Configuration): ConfigurationProblem[] {
  const tools = createToolRegistry(createBuiltInTools({ environment: process.env, secrets: [] }));
  return [
    ...missingModules(configuration),
    ...toolCountProblems(configuration),
    ...approvalRuleProblems({ ...configuration, agents: configuration.agents.map(withNamedMcpTools) }, tools),
  ];
}

/** Only a worker knows all tools of an MCP server: here, whatever a rule may mean of them counts as one. */
function withNamedMcpTools(agent: AgentDefinition): AgentDefinition {
  const { mcp = [], tools, approvals } = agent;
  const ofServers = ({ tool }: ApprovalRule): boolean => {
    const [head = '', ...others] = tool.split('*');
    return mcp.some(
      (server) => head.startsWith(`${server}__`) || (others.length > 0 && `${server}__`.startsWith(head)),
    );
  };
  const named = (approvals?.rules ?? []).filter(ofServers).map(({ tool }) => tool);
  const single = mcp.filter((entry) => entry !== serverNamed(entry));
  return { ...agent, tools: [...tools, ...single, ...named] };
}

function missingModules({ modules, placeOf }: Configuration): ConfigurationProblem[] {
  return modules.flatMap((path, index) => {
    if (existsSync(path)) return [];
    const place = placeOf(['modules', index]);
    return [
      {
        code: 'wrong_value',
        option: `modules[${index}]`,
        message: `names ${JSON.stringify(path)}, which is not there: correct it, or take it out`,
        ...definedOf({ place }),
      },
    ];
  });
}
