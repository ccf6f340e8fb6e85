import { CLIENT_NEXT, isClientErrorCode } from '../client/errors.ts';
import { exitOf, STORE_NEXT } from './describe-error.ts';
import { describeExitCodes, EXIT_CODES } from './exit-codes.ts';
import { createProgram } from './main.ts';

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
    // The exit codes are the same everywhere and stand on top of the page, except where a command has its own.
    const own = help.replace(`\n\nExit codes:\n${describeExitCodes()}`, '').trim();
    const path = command.parent === program ? command.name() : `${command.parent?.name()} ${command.name()}`;
    return `## holdfast ${path}\n\n\`\`\`text\n${own}\n\`\`\``;
  });
  return `# The command line

\`npx holdfast <command>\`. Every command has \`--help\` and \`--json\`. A conversation is named by its id, by the beginning or
end of it if only one conversation has it, or by \`last\`, the one that was active last. Servers are found in this order:
flags, environment, \`holdfast.yaml\`, the local stack that \`npx holdfast dev\` keeps in \`.holdfast/\`. File and folder are looked for
here, then in the folders above; \`--config <file>\` names another file with every command. A command that needs no agent, such as
\`stop\` or \`list\`, also works beside a \`holdfast.yaml\` with mistakes.

On a terminal \`chat\`, \`start\` and \`watch\` are a screen that follows the turn: Esc stops it, \`y\` and \`n\` decide on a call that waits
for approval. In a pipe they print plain lines, one per tool call, and
answers when they are complete. \`NO_COLOR\` switches colours off, \`TERM=dumb\` and \`--plain\` also the repainting.
Ctrl-C leaves, the turn goes on. Ctrl-C and SIGTERM end every command within a second, also when a server is silent; \`dev\`, \`worker\`
and \`simulator\` stop in order, with exit code 0.
Characters that a terminal hides or obeys are written out (\`\\u{202e}\`), in JSON as its escapes; emoji and letters of every script stay.

An error is two lines on standard error, what happened and what to do, or with \`--json\` one object on standard output:
\`{"error": {"code": …, "message": …, "next": …}}\`.

## Exit codes

\`\`\`text
${describeExitCodes()}
\`\`\`

${sections.join('\n\n')}
`;
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
  return `# Errors by code

What to do about an error of a command, of the [client](client.md) or of the [HTTP API](http.md#errors). A code is stable; its message names the
value that was wrong. The number is the exit code of a command.

${ofClient.toSorted().join('\n')}

What is wrong with a database, as \`database_schema\` or \`database_refused\` names it in its cause:

${ofStore.toSorted().join('\n')}

[Outcomes of a turn](troubleshooting.md#the-turn-ended-but-not-as-completed) are no errors: nothing is lost, and the next message goes on.
`;
}
