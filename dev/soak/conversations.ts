import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Holdfast } from '../../src/client/holdfast.ts';

import { filesOf } from '../demo/job.ts';
import type { Job } from '../demo/job.ts';
import { taskText } from '../demo/task-text.ts';
import type { Database } from '../../src/store/database/database.ts';
import { inventJob } from './job.ts';
import { DAEMON_COMMAND } from './left.ts';
import type { SoakOptions } from './options.ts';
import { persist } from './persist.ts';
import type { SeededRandom } from '../random.ts';

export const AGENT = 'operator';

/** A conversation of the soak, with what it was asked to do. */
export interface SoakConversation {
  readonly conversationId: string;
  readonly workspace: string;
  readonly job: Job;
  /** The message that asks for the report. */
  readonly readingMessageId: string;
  /** Whether users may stop its turns: after that it owes no report. */
  readonly mayStop: boolean;
}

export interface Conversations {
  /** All that were ever started, oldest first. */
  readonly all: readonly SoakConversation[];
  /** Ids of those that are not known to have come to their end. */
  open(): readonly string[];
  /** Starts one for each that has ended. */
  refill(): Promise<void>;
}

interface Source {
  readonly client: Holdfast;
  readonly database: Database;
  readonly random: SeededRandom;
  /** In which each conversation gets a workspace of its own. */
  readonly directory: string;
}

export function openConversations(source: Source, options: SoakOptions): Conversations {
  const all: SoakConversation[] = [];
  let open: string[] = [];
  return {
    all,
    open: () => open,
    async refill() {
      const rows = await persist(
        () => source.database<{ id: string }[]>`
          select id from conversations c where id = any(${open}) and (active_turn_id is not null
            or exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null))`,
      );
      open = rows.map(({ id }) => id);
      while (open.length < options.conversations) {
        // Every second one is never stopped: one that was owes no report, and in a short run there would be none to check.
        const mayStop = all.length % 2 === 1;
        await startConversation(source, { ...inventTask(source, options), mayStop }, (started) => {
          all.push(started);
          open.push(started.conversationId);
        });
      }
    },
  };
}

function inventTask({ random, directory }: Source, { files, lines }: SoakOptions) {
  const readingMessageId = randomUUID();
  const workspace = join(directory, 'workspaces', readingMessageId);
  return { workspace, job: inventJob(files, lines, random), readingMessageId };
}

/**
 * Two tasks, one after the other: to read and report, and to call tools with effects.
 * @param started at once, because a strike at a conversation that is not listed would be seen to hit nothing
 */
async function startConversation(
  { client, random }: Source,
  conversation: Omit<SoakConversation, 'conversationId'>,
  started: (conversation: SoakConversation) => void,
): Promise<void> {
  const { workspace, job, readingMessageId } = conversation;
  await writeFiles(workspace, job);
  const reading = { content: taskText(job), messageId: readingMessageId };
  const script = { content: scriptText(random), messageId: randomUUID() };
  const [first, second] = random.chance(0.4) ? [script, reading] : [reading, script];
  const { content: task, messageId: startKey } = first;
  const { conversationId } = await persist(() => client.start(task, { agent: AGENT, startKey, workspace }));
  started({ ...conversation, conversationId });
  await persist(() => client.conversation.send({ conversationId, mode: 'queue', ...second }));
}

async function writeFiles(workspace: string, job: Job): Promise<void> {
  for (const { path, bytes } of filesOf(job)) {
    const target = join(workspace, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
  }
}

/** Calls of the tools with effects, alone and several in one answer, of one that a person must allow, and of a command. */
function scriptText(random: SeededRandom): string {
  return [
    ...(random.chance(0.5) ? [`Call run_command with ${JSON.stringify({ command: DAEMON_COMMAND })}`] : []),
    `Call charge with {"item": "order-$index"} ${random.between(3, 6)} times, one by one`,
    `Call set_state with {"item": "state-$index"} ${random.between(2, 4)} times`,
    `Call charge with {"item": "refund-$index"} ${random.between(2, 4)} times`,
    'Call wire with {"item": "sum-$index"} 2 times',
    'Say Everything is charged.',
  ].join('\n');
}
