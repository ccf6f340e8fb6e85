import { expect, test } from 'vitest';
import { z } from 'zod';
import { approvalRuleProblems } from '../../../src/config/check/check-approvals.ts';
import { createBuiltInTools } from '../../../src/tools/builtin/built-in-tools.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { createToolRegistry } from '../../../src/tools/runtime/registry.ts';
import { problemsOfWorker } from '../../../src/config/check/check-for-worker.ts';
import { load } from '../support/written-configuration.ts';

const tool = (name: string, input: z.ZodObject) =>
  defineTool({ name, description: 'Acts.', input, effect: 'once', run: () => Promise.resolve({ content: '' }) });

const TOOLS = createToolRegistry([
  ...createBuiltInTools({ environment: {}, secrets: [] }),
  tool('open', z.looseObject({})),
  tool('mcp_copy', z.object({ path: z.string(), force: z.boolean() })),
  tool('mcp_move', z.object({ path: z.string(), target: z.string() })),
]);

/** What is wrong with rules of an agent that may run commands. */
async function problemsOf(rules: string, more = ''): Promise<string[]> {
  const configuration = await load(
    `agents: { default: { allowCommands: true, ${more} approvals: { rules: [${rules}] } } }`,
  );
  return approvalRuleProblems(configuration, TOOLS).map(({ option, message }) => `${option} ${message}`);
}

test('a rule that fits no tool of its agent, or names an argument that the tool lacks, is refused with what was meant', async () => {
  const found = await problemsOf("run_comand, { tool: run_command, when: { comand: '*git push*' } }, write_file");
  expect(found).toEqual([
    expect.stringMatching(
      /^agents\.default\.approvals\.rules\[0\] is for the tool "run_comand", which fits none of the agent's, so that no call would ask; did you mean run_command\? \(it has: list_files, /,
    ),
    expect.stringMatching(
      /^agents\.default\.approvals\.rules\[1\] names the argument "comand" under when, which run_command does not take, so that no call would ask; did you mean command\? \(there are: command/,
    ),
  ]);
  const configuration = await load('agents:\n  default: { approvals: { rules: [run_command] } }');
  expect(approvalRuleProblems(configuration, TOOLS)).toMatchObject([
    {
      place: { file: 'holdfast.yaml', line: 2, column: 35 },
      option: 'agents.default.approvals.rules[0]',
      message: expect.stringContaining("which fits none of the agent's"),
    },
  ]);
});

test('a pattern of tools is fine when one of them takes all arguments, and where arguments are not known', async () => {
  const tools = 'tools: [mcp_copy, mcp_move, open, unknown_here],';
  const rules = "'*', { tool: 'mcp_*', when: { path: '/etc/*', force: 'true' } }, { tool: open, when: { any: x } }";
  expect(await problemsOf(`${rules}, { tool: unknown_here, when: { any: x } }`, tools)).toEqual([]);
  expect(await problemsOf("{ tool: 'mcp_*', when: { target: x, force: 'true' } }", tools)).toEqual([
    'agents.default.approvals.rules[0] names arguments under when that none of mcp_copy, mcp_move takes together: target, force',
  ]);
});

test('before a worker has asked MCP servers, rules may name any tool of a server, but of single tools only those', async () => {
  const configuration = await load(`
mcpServers: { files: { command: server }, tickets: { command: server } }
agents: { default: { mcp: [files, tickets__search], approvals: { rules: [files__write, 'files__*', 'fil*', '*__write*', 'fill*', { tool: files__move, when: { to: x } }, tickets__search, tickets__serch, files] } } }`);
  expect(problemsOfWorker(configuration).map(({ option, message }) => `${option} ${message}`)).toEqual([
    expect.stringMatching(/rules\[4\] is for the tool "fill\*"/),
    expect.stringMatching(/rules\[7\] is for the tool "tickets__serch".*did you mean tickets__search\?/),
    expect.stringMatching(/rules\[8\] is for the tool "files"/),
  ]);
});
