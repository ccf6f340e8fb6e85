import { resolve } from 'node:path';
import { definedOf } from '../../context/policy/defined-of.ts';
import { localCommand } from '../command.ts';
import type { Printed } from '../command.ts';
import { findDatabaseUrl } from '../connect.ts';
import { shortId } from '../find-conversation.ts';
import type { ConnectionFlags } from '../holdfast-command.ts';
import { importLines } from '../render/lists/import-lines.ts';
import { plural } from '../render/text/numbers.ts';
import { importExported, isExported } from './import-exported.ts';
import type { NewConversationFlags } from './import-exported.ts';
import { argument, option } from '../options.ts';

const importFile = localCommand({
  description:
    'Makes a conversation from a recorded session, with every message, answer, tool result and image. `holdfast send` then goes on with it under any model and preset. A file of several sessions becomes several conversations. Entries keep the times of the recording, and nothing of the session is run. A file of `holdfast export` becomes the same conversation again, under its own id. A file is data: agent, model, preset and workspace are those that you name.',
  examples: [
    'npx holdfast import session.jsonl',
    'npx holdfast import conversation.jsonl',
    'npx holdfast import session.jsonl --model anthropic/claude-sonnet-5-5 --preset pi && npx holdfast send last "Go on"',
  ],
  servers: true,
  arguments: [argument('<file>', 'recorded session, or a file of `holdfast export`')],
  options: [
    option('--agent <name>', 'agent that goes on with it (default: `default`)'),
    option('--model <provider/model>', "instead of the agent's own"),
    option('--preset <name>', "compaction preset instead of the agent's own"),
    option('--workspace <folder>', "instead of the agent's own", (folder: string) => resolve(folder)),
  ],
  async run(_call, flags, file) {
    const { agent, model, preset, workspace } = flags;
    const chosen = definedOf({ agent, model, preset, workspace });
    return (await isExported(file)) ? importExported(file, flags, chosen) : importSession(file, flags, chosen);
  },
});

export const commands = { import: importFile };

async function importSession(file: string, flags: ConnectionFlags, chosen: NewConversationFlags): Promise<Printed> {
  const [{ importSessions }, { loadConfiguration }, { openDatabase }, { requireCurrentSchema }] = await Promise.all([
    import('../../import/import-sessions.ts'),
    import('../../config/load-configuration.ts'),
    import('../../store/database/pooler.ts'),
    import('../../store/database/migrate.ts'),
  ]);
  const configuration = loadConfiguration({ directory: process.cwd(), environment: process.env });
  const { agent = 'default', model = null, preset = null, workspace = null } = chosen;
  const database = await openDatabase({ url: await findDatabaseUrl(flags), applicationName: 'holdfast-import' });
  try {
    await requireCurrentSchema(database);
    const { conversations, report } = await importSessions(database, {
      file,
      configuration,
      ...definedOf({ taskQueue: process.env['HOLDFAST_TASK_QUEUE'] }),
      agent,
      settings: { model, preset, workspace, user: null },
    });
    const imported = conversations.flatMap(({ conversationId, turns, entries }) => [
      `conversation ${conversationId}: ${plural(turns, 'turn')}, ${plural(entries, 'entry', 'entries')}`,
      `  go on with it: npx holdfast send ${shortId(conversationId)} "…"`,
    ]);
    return { json: { conversations, report }, lines: [...importLines(report), ...imported] };
  } finally {
    await database.end({ timeout: 1 });
  }
}
