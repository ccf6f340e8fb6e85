import type { MakeCommand } from './command.ts';

/** A command, known by name and summary before it is loaded: `holdfast --help` needs no more. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<MakeCommand>;
}

export interface ListedGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly ListedCommand[];
}

/** @param load the module that has the command under its name */
function command<Name extends string>(
  name: Name,
  summary: string,
  load: () => Promise<{ readonly commands: Readonly<Record<Name, MakeCommand>> }>,
): ListedCommand {
  return { name, summary, load: async () => (await load()).commands[name] };
}

const branch: ListedGroup = {
  name: 'branch',
  summary: 'list and fork branches, switch, edit, answer again',
  commands: [
    command('list', 'list the branches of a conversation', () => import('./work/branch-commands.ts')),
    command('fork', 'go on from an earlier entry, on a branch of its own', () => import('./work/branch-commands.ts')),
    command('switch', 'go on with another branch', () => import('./work/branch-commands.ts')),
    command('regenerate', 'answer a message again, on a branch of its own', () => import('./work/branch-commands.ts')),
    command(
      'edit',
      'say an earlier message in other words, on a branch of its own',
      () => import('./work/branch-commands.ts'),
    ),
  ],
};

const memory: ListedGroup = {
  name: 'memory',
  summary: 'list and forget what agents remember',
  commands: [
    command('list', 'list memories, newest first', () => import('./context/memory.ts')),
    command('forget', 'delete a memory', () => import('./context/memory.ts')),
  ],
};

const model: ListedGroup = {
  name: 'model',
  summary: 'list models and prices, try a server, explain an error',
  commands: [
    command('list', 'list models with their windows and prices', () => import('./models/models.ts')),
    command('unpause', 'call a provider again before its pause is over', () => import('./models/models.ts')),
    command('test', 'tell what works with a model server', () => import('./models/conformance.ts')),
    command(
      'explain-error',
      "tell what Holdfast would do with a provider's error",
      () => import('./models/explain-error.ts'),
    ),
  ],
};

const config: ListedGroup = {
  name: 'config',
  summary: 'check holdfast.yaml',
  commands: [
    command('check', 'check holdfast.yaml and say which file is in force', () => import('./models/config-check.ts')),
  ],
};

const db: ListedGroup = {
  name: 'db',
  summary: 'migrate the database, rebuild its index, adopt it',
  commands: [
    command('migrate', 'bring the database to this version', () => import('./services/migrate.ts')),
    command('reindex', 'build the search index anew from the log', () => import('./services/reindex.ts')),
    command('adopt', 'make a database that of another Temporal namespace', () => import('./services/db.ts')),
  ],
};

const keys: ListedGroup = {
  name: 'keys',
  summary: 'make, list and revoke keys of the HTTP API',
  commands: [
    command('create', 'make a key, which is shown once', () => import('./services/keys.ts')),
    command('list', 'list the keys of all tenants', () => import('./services/keys.ts')),
    command('revoke', 'end a key', () => import('./services/keys.ts')),
  ],
};

/** The commands, by what they are for, in the order of the help. */
export const COMMANDS: readonly (readonly [string, readonly (ListedCommand | ListedGroup)[]])[] = [
  [
    'Begin:',
    [
      command('init', 'write a first holdfast.yaml, an own tool and a test of it', () => import('./services/init.ts')),
      command('dev', 'run Postgres, Temporal, a worker and a simulator here', () => import('./services/dev.ts')),
      command('chat', 'talk with an agent', () => import('./work/chat.ts')),
    ],
  ],
  [
    'Work:',
    [
      command('start', 'give an agent a task and watch it', () => import('./work/start.ts')),
      command('send', 'send a message into a conversation', () => import('./work/send.ts')),
      command('stop', 'stop the running turn of a conversation', () => import('./work/stop.ts')),
      command('resume', 'go on where a turn ended, with raised limits', () => import('./work/resume.ts')),
      command('watch', "watch a conversation's running turn", () => import('./work/watch.ts')),
      command('list', 'list conversations, newest first', () => import('./work/list.ts')),
      command('show', 'show a conversation and its newest entries', () => import('./work/show.ts')),
      branch,
    ],
  ],
  [
    'Approvals and questions:',
    [
      command('approve', 'allow a tool call that waits for it', () => import('./work/decide.ts')),
      command('deny', 'refuse a tool call that waits for approval', () => import('./work/decide.ts')),
      command('answer', 'answer a question that the agent asked', () => import('./work/decide.ts')),
      command('approvals', 'list and end decisions that stand for an agent', () => import('./work/approvals.ts')),
    ],
  ],
  [
    'Context and memory:',
    [
      command('context', 'show what fills the context window, by kind', () => import('./context/context.ts')),
      command('view', 'print what the model saw at a call', () => import('./context/view.ts')),
      command('compact', 'compact a conversation now', () => import('./context/compact.ts')),
      command('pin', 'pin a rule to a conversation, or list its pins', () => import('./context/pin.ts')),
      command(
        'summaries',
        'list the summaries of a conversation, with what they cover',
        () => import('./context/summaries.ts'),
      ),
      command('recall', 'search everything that a conversation ever held', () => import('./context/recall.ts')),
      command('entry', 'print an entry with its whole original, or a summary', () => import('./context/entry.ts')),
      memory,
    ],
  ],
  [
    'Agents, models and cost:',
    [
      command('agents', 'list agents with their model and tools', () => import('./models/agents.ts')),
      config,
      model,
      command('cost', 'add up what model calls cost', () => import('./models/cost.ts')),
    ],
  ],
  [
    'Files of conversations:',
    [
      command(
        'import',
        'make a recorded session, or an exported conversation, a conversation that can go on',
        () => import('./files/import.ts'),
      ),
      command(
        'export',
        'write a whole conversation to a file that `holdfast import` reads',
        () => import('./files/export.ts'),
      ),
      command('delete', 'delete a conversation for good', () => import('./files/delete.ts')),
    ],
  ],
  [
    'Services:',
    [
      command('worker', 'run a worker that serves turns', () => import('./services/worker.ts')),
      command('server', 'serve conversations over HTTP', () => import('./services/server.ts')),
      keys,
      command('acp', 'serve agents to an editor over ACP', () => import('./services/acp.ts')),
      command('mcp', 'serve conversations to an assistant over MCP', () => import('./services/mcp.ts')),
      command('simulator', 'run the offline model server alone', () => import('./services/simulator.ts')),
      command('env', 'print the addresses of the servers for a shell', () => import('./services/env.ts')),
      command('logs', 'print the logs of the local services', () => import('./services/logs.ts')),
      command('open', "open Temporal's page of a conversation", () => import('./services/open.ts')),
      db,
      command('verify', 'check that nothing is lost, doubled or half written', () => import('./services/verify.ts')),
      command('doctor', 'check this machine, with a fix for what is broken', () => import('./services/doctor.ts')),
      command(
        'completion',
        'print a completion script for bash, zsh or fish',
        () => import('./services/completion.ts'),
      ),
    ],
  ],
];
