import type { Command } from 'commander';

/** A command, known by name and summary before it is loaded: `holdfast --help` needs no more. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export interface ListedGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly ListedCommand[];
}

const command = (name: string, summary: string, load: () => Promise<Command>): ListedCommand => ({
  name,
  summary,
  load,
});

const branch: ListedGroup = {
  name: 'branch',
  summary: 'list and fork branches, switch, edit, answer again',
  commands: [
    command('list', 'list the branches of a conversation', async () =>
      (await import('./work/branch-commands.ts')).branchesCommand(),
    ),
    command('fork', 'go on from an earlier entry, on a branch of its own', async () =>
      (await import('./work/branch-commands.ts')).forkCommand(),
    ),
    command('switch', 'go on with another branch', async () =>
      (await import('./work/branch-commands.ts')).switchCommand(),
    ),
    command('regenerate', 'answer a message again, on a branch of its own', async () =>
      (await import('./work/branch-commands.ts')).regenerateCommand(),
    ),
    command('edit', 'say an earlier message in other words, on a branch of its own', async () =>
      (await import('./work/branch-commands.ts')).editCommand(),
    ),
  ],
};

const memory: ListedGroup = {
  name: 'memory',
  summary: 'list and forget what agents remember',
  commands: [
    command('list', 'list memories, newest first', async () =>
      (await import('./context/memory.ts')).memoryListCommand(),
    ),
    command('forget', 'delete a memory', async () => (await import('./context/memory.ts')).forgetCommand()),
  ],
};

const model: ListedGroup = {
  name: 'model',
  summary: 'list models and prices, try a server, explain an error',
  commands: [
    command('list', 'list models with their windows and prices', async () =>
      (await import('./models/models.ts')).modelsCommand(),
    ),
    command('unpause', 'call a provider again before its pause is over', async () =>
      (await import('./models/models.ts')).unpauseCommand(),
    ),
    command('test', 'tell what works with a model server', async () =>
      (await import('./models/conformance.ts')).conformanceCommand(),
    ),
    command('explain-error', "tell what Holdfast would do with a provider's error", async () =>
      (await import('./models/explain-error.ts')).explainErrorCommand(),
    ),
  ],
};

const config: ListedGroup = {
  name: 'config',
  summary: 'check holdfast.yaml',
  commands: [
    command('check', 'check holdfast.yaml and say which file is in force', async () =>
      (await import('./models/config-check.ts')).configCheckCommand(),
    ),
  ],
};

const db: ListedGroup = {
  name: 'db',
  summary: 'migrate the database, rebuild its index, adopt it',
  commands: [
    command('migrate', 'bring the database to this version', async () =>
      (await import('./services/migrate.ts')).migrateCommand(),
    ),
    command('reindex', 'build the search index anew from the log', async () =>
      (await import('./services/reindex.ts')).reindexCommand(),
    ),
    command('adopt', 'make a database that of another Temporal namespace', async () =>
      (await import('./services/db.ts')).adoptCommand(),
    ),
  ],
};

const keys: ListedGroup = {
  name: 'keys',
  summary: 'make, list and revoke keys of the HTTP API',
  commands: [
    command('create', 'make a key, which is shown once', async () =>
      (await import('./services/keys.ts')).createKeyCommand(),
    ),
    command('list', 'list the keys of all tenants', async () => (await import('./services/keys.ts')).listKeysCommand()),
    command('revoke', 'end a key', async () => (await import('./services/keys.ts')).revokeKeyCommand()),
  ],
};

/** The commands, by what they are for, in the order of the help. */
export const COMMANDS: readonly (readonly [string, readonly (ListedCommand | ListedGroup)[]])[] = [
  [
    'Begin:',
    [
      command('init', 'write a first holdfast.yaml, an own tool and a test of it', async () =>
        (await import('./services/init.ts')).initCommand(),
      ),
      command('dev', 'run Postgres, Temporal, a worker and a simulator here', async () =>
        (await import('./services/dev.ts')).devCommand(),
      ),
      command('chat', 'talk with an agent', async () => (await import('./work/chat.ts')).chatCommand()),
    ],
  ],
  [
    'Work:',
    [
      command('start', 'give an agent a task and watch it', async () =>
        (await import('./work/start.ts')).startCommand(),
      ),
      command('send', 'send a message into a conversation', async () => (await import('./work/send.ts')).sendCommand()),
      command('stop', 'stop the running turn of a conversation', async () =>
        (await import('./work/stop.ts')).stopCommand(),
      ),
      command('resume', 'go on where a turn ended, with raised limits', async () =>
        (await import('./work/resume.ts')).resumeCommand(),
      ),
      command('watch', "watch a conversation's running turn", async () =>
        (await import('./work/watch.ts')).watchCommand(),
      ),
      command('list', 'list conversations, newest first', async () => (await import('./work/list.ts')).listCommand()),
      command('show', 'show a conversation and its newest entries', async () =>
        (await import('./work/show.ts')).showCommand(),
      ),
      branch,
    ],
  ],
  [
    'Approvals and questions:',
    [
      command('approve', 'allow a tool call that waits for it', async () =>
        (await import('./work/decide.ts')).approveCommand(),
      ),
      command('deny', 'refuse a tool call that waits for approval', async () =>
        (await import('./work/decide.ts')).denyCommand(),
      ),
      command('answer', 'answer a question that the agent asked', async () =>
        (await import('./work/decide.ts')).answerCommand(),
      ),
      command('approvals', 'list and end decisions that stand for an agent', async () =>
        (await import('./work/approvals.ts')).approvalsCommand(),
      ),
    ],
  ],
  [
    'Context and memory:',
    [
      command('context', 'show what fills the context window, by kind', async () =>
        (await import('./context/context.ts')).contextCommand(),
      ),
      command('view', 'print what the model saw at a call', async () =>
        (await import('./context/view.ts')).viewCommand(),
      ),
      command('compact', 'compact a conversation now', async () =>
        (await import('./context/compact.ts')).compactCommand(),
      ),
      command('pin', 'pin a rule to a conversation, or list its pins', async () =>
        (await import('./context/pin.ts')).pinCommand(),
      ),
      command('summaries', 'list the summaries of a conversation, with what they cover', async () =>
        (await import('./context/summaries.ts')).summariesCommand(),
      ),
      command('recall', 'search everything that a conversation ever held', async () =>
        (await import('./context/recall.ts')).recallCommand(),
      ),
      command('entry', 'print an entry with its whole original, or a summary', async () =>
        (await import('./context/entry.ts')).entryCommand(),
      ),
      memory,
    ],
  ],
  [
    'Agents, models and cost:',
    [
      command('agents', 'list agents with their model and tools', async () =>
        (await import('./models/agents.ts')).agentsCommand(),
      ),
      config,
      model,
      command('cost', 'add up what model calls cost', async () => (await import('./models/cost.ts')).costCommand()),
    ],
  ],
  [
    'Files of conversations:',
    [
      command(
        'import',
        'make a recorded session, or an exported conversation, a conversation that can go on',
        async () => (await import('./files/import.ts')).importCommand(),
      ),
      command('export', 'write a whole conversation to a file that `holdfast import` reads', async () =>
        (await import('./files/export.ts')).exportCommand(),
      ),
      command('delete', 'delete a conversation for good', async () =>
        (await import('./files/delete.ts')).deleteCommand(),
      ),
    ],
  ],
  [
    'Services:',
    [
      command('worker', 'run a worker that serves turns', async () =>
        (await import('./services/worker.ts')).workerCommand(),
      ),
      command('server', 'serve conversations over HTTP', async () =>
        (await import('./services/server.ts')).serverCommand(),
      ),
      keys,
      command('acp', 'serve agents to an editor over ACP', async () =>
        (await import('./services/acp.ts')).acpCommand(),
      ),
      command('mcp', 'serve conversations to an assistant over MCP', async () =>
        (await import('./services/mcp.ts')).mcpCommand(),
      ),
      command('simulator', 'run the offline model server alone', async () =>
        (await import('./services/simulator.ts')).simulatorCommand(),
      ),
      command('env', 'print the addresses of the servers for a shell', async () =>
        (await import('./services/env.ts')).envCommand(),
      ),
      command('logs', 'print the logs of the local services', async () =>
        (await import('./services/logs.ts')).logsCommand(),
      ),
      command('open', "open Temporal's page of a conversation", async () =>
        (await import('./services/open.ts')).openCommand(),
      ),
      db,
      command('verify', 'check that nothing is lost, doubled or half written', async () =>
        (await import('./services/verify.ts')).verifyCommand(),
      ),
      command('doctor', 'check this machine, with a fix for what is broken', async () =>
        (await import('./services/doctor.ts')).doctorCommand(),
      ),
      command('completion', 'print a completion script for bash, zsh or fish', async () =>
        (await import('./services/completion.ts')).completionCommand(),
      ),
    ],
  ],
];
