import { resolve } from 'node:path';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { Command } from 'commander';
import { findDatabaseUrl } from '../connect.ts';
import { shortId } from '../find-conversation.ts';
import { holdfastCommand, withConnections } from '../holdfast-command.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { openOutput } from '../output.ts';
import { importExported, isExported } from './import-exported.ts';
import { importLines } from '../render/lists/import-lines.ts';
import { plural } from '../render/text/numbers.ts';

interface ImportFlags extends ConnectionFlags {
  readonly agent?: string;
  readonly model?: string;
  readonly preset?: string;
  readonly workspace?: string;
}

/** `holdfast import`: a recorded session as a conversation. */
export function importCommand(): Command {
  return withConnections(
    holdfastCommand('import', {
      description:
        'Makes a conversation of a recorded session, with every message, answer, tool result and image as it was; `holdfast send` then goes on with it under any model and preset. Reads what `holdfast-lab` reads. A file of several sessions becomes several conversations. Entries have the times of the recording. Nothing of the session is run. A file that `holdfast export` wrote becomes the same conversation again, under its own id. A file is data: agent, model, preset and workspace are those that are named here.',
      examples: [
        'npx holdfast import session.jsonl',
        'npx holdfast import conversation.jsonl',
        'npx holdfast import session.jsonl --model anthropic/claude-sonnet-5-5 --preset pi && npx holdfast send last "Go on"',
      ],
    }),
  )
    .argument('<file>', 'recorded session, or a file of `holdfast export`')
    .option('--agent <name>', 'agent that goes on with it (default: `default`)')
    .option('--model <provider/model>', "instead of the agent's own")
    .option('--preset <name>', "compaction preset instead of the agent's own")
    .option('--workspace <folder>', "instead of the agent's own")
    .action(importFile);
}

async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const { agent, model, preset } = flags;
  const workspace = flags.workspace === undefined ? undefined : resolve(flags.workspace);
  if (await isExported(file)) {
    return importExported(file, flags, definedOf({ agent, model, preset, workspace }));
  }
  const output = openOutput();
  const [{ importSessions }, { loadConfiguration }, { openDatabase }, { requireCurrentSchema }] = await Promise.all([
    import('../../import/import-sessions.ts'),
    import('../../config/load-configuration.ts'),
    import('../../store/database/pooler.ts'),
    import('../../store/database/migrate.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  const database = await openDatabase({ url: await findDatabaseUrl(flags), applicationName: 'holdfast-import' });
  try {
    await requireCurrentSchema(database);
    const { conversations, report } = await importSessions(database, {
      file,
      configuration,
      ...definedOf({ taskQueue: process.env['HOLDFAST_TASK_QUEUE'] }),
      agent: agent ?? 'default',
      settings: { model: model ?? null, preset: preset ?? null, workspace: workspace ?? null, user: null },
    });
    if (flags.json === true) {
      output.json({ conversations, report });
      return;
    }
    output.lines(importLines(report));
    for (const { conversationId, turns, entries } of conversations) {
      output.lines([
        `conversation ${conversationId}: ${plural(turns, 'turn')}, ${plural(entries, 'entry', 'entries')}`,
        `  go on with it: npx holdfast send ${shortId(conversationId)} "…"`,
      ]);
    }
  } finally {
    await database.end({ timeout: 1 });
  }
}
