import { CLIENT_NEXT, isClientErrorCode } from '../../src/client/errors.ts';
import type { ConfigurationErrorCode } from '../../src/config/errors.ts';
import type { StackErrorCode } from '../../src/local/stack-error.ts';
import type { TemporalErrorCode } from '../../src/temporal/errors.ts';
import { exitOf, STORE_NEXT } from '../../src/cli/describe-error.ts';
import { describeExitCodes, EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/main.ts';

/** What to do where a worker, a server or the local stack does not start; the message has the command or the place in the file. */
const START_NEXT: Record<TemporalErrorCode | ConfigurationErrorCode | StackErrorCode, string> = {
  agent_duplicate: 'Give one of the two agents another name.',
  agent_unknown: 'Name an agent of `holdfast.yaml` or of your worker.',
  configuration_invalid: 'Correct the lines that the message names; `npx holdfast config check` lists all.',
  configuration_unreadable: 'Let this user read `holdfast.yaml`.',
  directory_untrusted: 'Remove the folder that the message names, or give it to this user.',
  directory_unusable: 'Let this user write to the folder that the message names.',
  disk_full: 'Make room on this machine, 1 GB or more.',
  mcp_server_failed: 'Start the MCP server that the message names, or take it out of the agent.',
  model_invalid: 'Write the model as `provider/model`.',
  module_unusable: 'Correct the file that the message names, or take it out of `modules`.',
  namespace_missing: 'Run the command that the message shows, then start the worker again.',
  no_permission: 'Give this user the right that the message names.',
  no_unprivileged_user: 'Run `useradd --system postgres`, or start as another user than root.',
  payload_codec_failed: 'Start or correct the codec server (`TEMPORAL_CODEC_ENDPOINT`, `payloadCodecs`).',
  platform_unsupported: 'Use Linux or macOS, or servers of your own.',
  port_taken: 'Choose another port, or end the process that has it.',
  postgres_failed: 'Read the log that the message names.',
  postgres_missing: 'Run the command that the message shows, or set `DATABASE_URL`.',
  postgres_version: 'Move the data away for an empty database, or upgrade it with pg_upgrade.',
  preset_duplicate: 'Give one of the two presets another name.',
  preset_unknown: 'Name a preset of Holdfast or of your worker.',
  provider_address_missing: 'Start the simulator with `npx holdfast dev`, or name another model.',
  provider_key_missing: 'Set the variable that the message names.',
  provider_unknown: 'Add the provider under `providers` in `holdfast.yaml`, or correct its name.',
  reducer_duplicate: 'Give one of the two reducers another name.',
  search_attributes_missing: 'Run the command that the message shows, then start the worker again.',
  service_failed: 'Read the log that the message names.',
  stack_already_running: 'Use the stack that runs, or end it first.',
  stack_file_invalid: 'Remove the file that the message names, then start again.',
  stack_not_started: 'Run `npx holdfast dev`.',
  temporal_missing: 'Unset or correct `HOLDFAST_TEMPORAL_CLI`: without it the CLI is downloaded.',
  temporal_profile_invalid: 'Correct `TEMPORAL_PROFILE`, its file or the `TEMPORAL_TLS_…` variables.',
};

/** Columns of help in the reference. */
const COLUMNS = 100;

/** `docs/cli.md`: every command with its help, as the commands print it. */
export async function cliReference(): Promise<string> {
  const program = await createProgram('all');
  const commands = program.commands.flatMap((command) =>
    command.commands.length === 0 ? [command] : command.commands,
  );
  const sections = commands.map((command) => {
    let help = '';
    command.configureOutput({
      getOutHelpWidth: () => COLUMNS,
      getOutHasColors: () => false,
      writeOut: (text) => {
        help += text;
      },
    });
    command.outputHelp();
    const own = withoutShared(help);
    const path = command.parent === program ? command.name() : `${command.parent?.name()} ${command.name()}`;
    return `## holdfast ${path}\n\n\`\`\`text\n${own}\n\`\`\``;
  });
  return `# The command line

\`npx holdfast <command>\` starts, steers and inspects turns. Every command has \`--help\` and \`--json\`.

\`\`\`sh
npx holdfast start "Read package.json and say what is in it"
npx holdfast show last
\`\`\`

- **A conversation** is named by its id, by the beginning or end of it, or by \`last\`: the one that was active last.
- **Servers** are found in this order: flags, environment, \`holdfast.yaml\`, the local stack that \`npx holdfast dev\` keeps in \`.holdfast/\`.
- **Options of servers**: \`--database-url <url>\`, \`--temporal-address <host:port>\` and \`--temporal-namespace <name>\`.
- **\`holdfast.yaml\` and \`.holdfast/\`** are looked for here, then in the folders above. \`--config <file>\` names another file. A command that needs no
  agent, such as \`stop\` or \`list\`, works beside a file with mistakes.
- **On a terminal**, \`chat\`, \`start\` and \`watch\` are a screen that follows the turn. Esc stops the turn; \`y\` or \`n\`, then Enter, decides on a waiting call.
- **In a pipe** they print plain lines: one per tool call, and answers when they are complete.
- **Colours**: \`NO_COLOR\` turns them off. \`TERM=dumb\` and \`--plain\` turn off repainting too.
- **Ctrl-C** leaves, and the turn goes on. Ctrl-C and SIGTERM end every command within a second. \`dev\`, \`worker\` and \`simulator\` first end their
  work, with exit code 0.
- **Control characters** are written out (\`\\u{202e}\`). Emoji and letters of every script stay.
- **An error** is two lines on standard error: what happened and what to do. With \`--json\` it is one object on standard output:
  \`{"error": {"code": …, "message": …, "next": …}}\`.

## Exit codes

\`\`\`text
${describeExitCodes()}
\`\`\`

${sections.join('\n\n')}
`;
}

/** Without what is the same for every command and explained on top of the page. */
function withoutShared(help: string): string {
  return help
    .replace(`\n\nExit codes:\n${describeExitCodes()}`, '')
    .replace('\nOptions of servers: npx holdfast --help', '\nOptions of servers: see above.')
    .replaceAll(/^ +(?:-h, --help +show this help|--json +print JSON instead of text)\n/gmu, '')
    .replace(/^Options:\n(?=\n|$)/mu, '')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}

/** `docs/errors.md`: every code of the client, with what to do. */
export function errorReference(): string {
  const ofClient = Object.entries(CLIENT_NEXT).map(([code, next]) => {
    const exit = isClientErrorCode(code) ? exitOf(code) : 'internal';
    return `- \`${code}\` (${EXIT_CODES[exit].code}): ${next}`;
  });
  const ofStore = Object.entries(STORE_NEXT)
    .filter(([code]) => !(code in CLIENT_NEXT))
    .map(([code, next]) => `- \`${code}\`: ${next}`);
  const ofStart = Object.entries(START_NEXT).map(([code, next]) => `- \`${code}\`: ${next}`);
  return `# Errors by code

Look up here what to do about an error of a command, of the [client](client.md) or of the [HTTP API](http.md#errors). A code is stable; its
message names the wrong value. The number is the exit code of a command.

${ofClient.toSorted().join('\n')}

Workers and \`holdfast db\` print the codes below. Other commands and the client print \`database_schema\` (the first three) or
\`database_refused\`, with the code below as \`cause\`:

${ofStore.toSorted().join('\n')}

Where a worker, a server or the local stack does not start:

${ofStart.join('\n')}

[Outcomes of a turn](troubleshooting.md#the-turn-ended-but-not-as-completed) are no errors: nothing is lost, and the
conversation continues with the next message.
`;
}
