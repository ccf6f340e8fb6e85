import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TurnHarness } from '../support/turn-harness.ts';
import { nothingIsBroken } from './steady-turn.ts';

const CALLS = 20;

/** Model calls and `once` tools of as many conversations, all of which run until the test goes on. */
export interface RunningCalls {
  /** Lets them end: each turn completes, no model call was made again, no outcome is unknown, and each tool acted once. */
  end(): Promise<void>;
}

export async function startRunningCalls(harness: TurnHarness): Promise<RunningCalls> {
  const { client, database, workspace } = harness;
  await harness.clearFaults();
  const answer = await harness.hold({ containing: 'asking' });
  const before = (await harness.asked()).total;
  const command = 'until [ -e let-go ]; do sleep 0.5; done; echo acted >> effects';
  // A busy machine takes longer than the limit of a command until all of them run.
  const task = `Call run_command with ${JSON.stringify({ command, timeout_seconds: 900 })}`;
  const tasks = [...Array.from({ length: CALLS }, () => task), ...Array.from({ length: CALLS }, () => 'Say asking')];
  const sent = await Promise.all(tasks.map((each) => client.start(each)));
  const ids = sent.map(({ conversationId }) => conversationId);
  const running = async (): Promise<{ tools: number; asked: number; requests: number }> => {
    const [row] = await database<{ tools: number; asked: number }[]>`
      select (select count(*)::int from tool_calls where conversation_id = any(${ids}) and state = 'claimed') as tools,
        (select count(*)::int from model_attempts where conversation_id = any(${ids}) and state = 'registered') as asked`;
    return { tools: row?.tools ?? 0, asked: row?.asked ?? 0, requests: (await harness.asked()).total - before };
  };
  await expect.poll(running).toEqual({ tools: CALLS, asked: CALLS, requests: 2 * CALLS });
  return {
    async end() {
      await Promise.all([answer(), writeFile(join(workspace, 'let-go'), '')]);
      for (const each of sent)
        expect(await client.conversation.outcome({ ...each, timeoutMilliseconds: 240_000 })).toMatchObject({
          outcome: 'completed',
        });
      const tries = await database`
        select 'model' as kind, attempt, state as ended, count(*)::int from model_attempts
        where conversation_id = any(${ids}) group by 1, 2, 3
        union all select 'tool', attempt, outcome, count(*)::int from tool_calls
        where conversation_id = any(${ids}) group by 1, 2, 3 order by 1`;
      expect([...tries]).toEqual([
        { kind: 'model', attempt: 1, ended: 'answered', count: 3 * CALLS },
        { kind: 'tool', attempt: 1, ended: 'succeeded', count: CALLS },
      ]);
      expect((await harness.asked()).total).toBe(before + 3 * CALLS);
      expect(await readFile(join(workspace, 'effects'), 'utf8')).toBe('acted\n'.repeat(CALLS));
      await nothingIsBroken(harness);
    },
  };
}
