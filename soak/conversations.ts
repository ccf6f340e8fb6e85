import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../src/client/types.ts';
import { filesOf } from '../src/demo/job.ts';
import type { Job } from '../src/demo/job.ts';
import { taskText } from '../src/demo/task-text.ts';
import type { Database } from '../src/store/database.ts';
import { inventJob } from './job.ts';
import { DAEMON_COMMAND } from './left.ts';
import type { SoakOptions } from './options.ts';
import type { Random } from './random.ts';

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
  /** Starts one for each that has ended; from `end` on none. */
  refill(): Promise<void>;
  /**
   * Something a user does at any moment: a message, a stop, a wish to compact. Every second conversation is never stopped: one that
   * was owes no report, and in a short run there would be none to check.
   */
  interfere(): Promise<void>;
  /**
   * Wishes for one compaction as soon as there is something worth it: a reading turn is that only for moments, and a short soak may
   * meet none of them by chance.
   */
  compactOnce(end: AbortSignal): Promise<void>;
  /** Turns without an outcome and rows that wait. */
  countUnfinished(): Promise<number>;
}

const POLL_MILLISECONDS = 100;

/** Longer than any strike keeps Postgres away. */
const PERSISTENCE_MILLISECONDS = 120_000;

/** Repeats until it succeeds: a client that knows the id of what it sends may send it again after any failure. */
async function persist<Result>(work: () => Promise<Result>): Promise<Result> {
  const end = Date.now() + PERSISTENCE_MILLISECONDS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > end) throw error;
      await delay(200);
    }
  }
}

interface Source {
  readonly client: HoldfastClient;
  readonly database: Database;
  readonly random: Random;
  /** In which each conversation gets a workspace of its own. */
  readonly directory: string;
}

export function openConversations(source: Source, options: SoakOptions): Conversations {
  const { database } = source;
  const all: SoakConversation[] = [];
  let open: string[] = [];
  return {
    all,
    open: () => open,
    async refill() {
      const rows = await persist(
        () => database<{ id: string }[]>`
          select id from conversations c where id = any(${open}) and (active_turn_id is not null
            or exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null))`,
      );
      open = rows.map(({ id }) => id);
      while (open.length < options.conversations) {
        const started = inventConversation(source, options, all.length % 2 === 1);
        all.push(started);
        // Before its first turn begins: a strike at a conversation that nobody knows would be seen to hit nothing.
        open.push(started.conversationId);
        await startConversation(source, started);
      }
    },
    async interfere() {
      const stoppable = new Set(all.flatMap((each) => (each.mayStop ? [each.conversationId] : [])));
      const mayStop = open.filter((id) => stoppable.has(id));
      if (open.length > 0) await interfere(source, { open, mayStop, characters: worthCompacting(options) });
    },
    async compactOnce(end) {
      const messageId = randomUUID();
      while (!end.aborted) {
        await delay(POLL_MILLISECONDS);
        try {
          const [worth] = await findWorthCompacting(database, open, worthCompacting(options));
          if (worth === undefined) continue;
          await source.client.requestCompaction({ conversationId: worth, messageId });
          return;
        } catch {
          // Postgres is being struck.
        }
      }
    },
    async countUnfinished() {
      const [row] = await persist(
        () => database<{ count: number }[]>`
          select (select count(*) from turns where outcome is null)::int
            + (select count(*) from messages where consumed_at is null)::int as count`,
      );
      return row?.count ?? 0;
    },
  };
}

function inventConversation(
  { random, directory }: Source,
  { files, lines }: SoakOptions,
  mayStop: boolean,
): SoakConversation {
  const conversationId = randomUUID();
  return {
    conversationId,
    workspace: join(directory, 'workspaces', conversationId),
    job: inventJob(files, lines, random),
    readingMessageId: randomUUID(),
    mayStop,
  };
}

/** Two tasks, one after the other: to read and report, and to call tools with effects. */
async function startConversation({ client, random }: Source, conversation: SoakConversation): Promise<void> {
  const { conversationId, workspace, job, readingMessageId } = conversation;
  await writeFiles(workspace, job);
  const reading = { content: taskText(job, { recall: true }), messageId: readingMessageId };
  const script = { content: scriptText(random), messageId: randomUUID() };
  const [first, second] = random.chance(0.4) ? [script, reading] : [reading, script];
  const { content: task, messageId } = first;
  await persist(() => client.startTask({ task, agent: AGENT, conversationId, messageId, workspace }));
  await persist(() => client.sendMessage({ conversationId, mode: 'queue', ...second }));
}

/**
 * Characters of a turn that fill three tenths of the window. In a smaller one half of what can shrink is the task itself, and is
 * clipped.
 */
function worthCompacting({ window }: SoakOptions): number {
  return 1_250 * window;
}

async function findWorthCompacting(
  database: Database,
  open: readonly string[],
  characters: number,
): Promise<readonly string[]> {
  const rows = await database<{ id: string }[]>`
    select c.id from conversations c join entries e on e.turn_id = c.active_turn_id where c.id = any(${open})
    group by c.id having sum(length(e.content::text)) >= ${characters} order by c.id`;
  return rows.map(({ id }) => id);
}

async function interfere(
  { client, database, random }: Source,
  {
    open,
    mayStop,
    characters,
  }: { readonly open: readonly string[]; readonly mayStop: readonly string[]; readonly characters: number },
): Promise<void> {
  const conversationId = random.pick(open);
  const messageId = randomUUID();
  const content = `Remark ${random.between(1, 9_999)}: all is well, go on.`;
  const compactOne = async (): Promise<unknown> => {
    const worth = await findWorthCompacting(database, open, characters);
    return worth.length > 0 && client.requestCompaction({ conversationId: random.pick(worth), messageId });
  };
  const ways: readonly (readonly [() => Promise<unknown>, number])[] = [
    [() => client.sendMessage({ conversationId, content, mode: 'steer', messageId }), 60],
    [compactOne, 30],
    [async () => mayStop.length > 0 && client.stop({ conversationId: random.pick(mayStop), messageId }), 6],
  ];
  await persist(random.weighted(ways));
}

async function writeFiles(workspace: string, job: Job): Promise<void> {
  for (const { path, bytes } of filesOf(job)) {
    const target = join(workspace, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
  }
}

/** Calls of the tools with effects, alone and several in one answer, of one that a person must allow, and of a command. */
function scriptText(random: Random): string {
  return [
    ...(random.chance(0.5) ? [`Call run_command with ${JSON.stringify({ command: DAEMON_COMMAND })}`] : []),
    `Call charge with {"item": "order-$index"} ${random.between(3, 6)} times, one by one`,
    `Call set_state with {"item": "state-$index"} ${random.between(2, 4)} times`,
    `Call charge with {"item": "refund-$index"} ${random.between(2, 4)} times`,
    'Call wire with {"item": "sum-$index"} 2 times',
    'Say Everything is charged.',
  ].join('\n');
}
