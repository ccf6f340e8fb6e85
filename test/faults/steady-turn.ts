import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { newId } from '../../src/store/database/ids.ts';
import { verify } from '../../src/verify/verify.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Milliseconds of each model answer, and of each command: faults meet both, and steps are few. */
const ANSWER_MILLISECONDS = 150;
const COMMAND_MILLISECONDS = 100;

/** More than any turn takes before the test ends it, and fewer than the limit of an agent. */
const STEPS = 400;

/**
 * A turn of equal steps that goes on while a test breaks things, until the test ends it. Each step runs a command, which acts `once`: it
 * writes its number into a file, which no server that is broken keeps. The agent has to allow commands.
 */
export interface SteadyTurn {
  readonly conversationId: string;
  /** Waits until the turn has made progress from here on, with no command run twice. */
  goesOn(): Promise<void>;
  /** Has the turn answer instead of taking another step. */
  end(): Promise<void>;
  /**
   * Ends it, and waits for that: completed, each command run once and told as succeeded, nothing lost. No fault here ends a process that runs a
   * command, so no outcome is unknown: the worker that ran it is there to tell.
   */
  completes(): Promise<void>;
}

export async function startSteadyTurn(harness: TurnHarness): Promise<SteadyTurn> {
  await harness.clearFaults();
  await harness.fault({ kind: 'delay', milliseconds: ANSWER_MILLISECONDS, times: null });
  const file = `effects-${newId()}.txt`;
  const command = `echo $index >> ${file}; sleep ${COMMAND_MILLISECONDS / 1_000}`;
  const sent = await harness.client.start(
    `Call run_command with ${JSON.stringify({ command })} ${STEPS} times, one by one`,
  );
  const { conversationId } = sent;
  const effects = async (): Promise<number[]> => {
    const text = await readFile(join(harness.workspace, file), 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean).map(Number);
  };
  const answers = async (): Promise<number> => {
    const [row] = await harness.database<{ count: number }[]>`
      select count(*)::int as count from entries where conversation_id = ${conversationId} and kind = 'assistant'`;
    return row?.count ?? 0;
  };
  const reaches = (count: number) => waitUntil(`the turn has ${count} answers`, async () => (await answers()) >= count);
  await reaches(1);
  const end = async (): Promise<void> => {
    await harness.clearFaults();
    await harness.client.conversation.send({ conversationId, content: 'Say all done', mode: 'steer' });
  };
  return {
    conversationId,
    async goesOn() {
      const count = await answers();
      await reaches(count + 2);
      const acted = await effects();
      expect(acted, 'commands run').toEqual([...new Set(acted)]);
    },
    end,
    async completes() {
      await end();
      const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
      const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
      const steps = entries.filter(({ kind }) => kind === 'tool_result').length;
      expect(turn).toMatchObject({ outcome: 'completed', steps: steps + 1 });
      expect(textOf(entries.at(-1)?.content ?? [])).toBe('all done');
      expectEachOnce(await effects(), await toolOutcomes(harness, conversationId), steps);
      await nothingIsBroken(harness);
    },
  };
}

/** What the model was told of each call, in their order: the first call is that with the number 1. */
async function toolOutcomes({ database }: TurnHarness, conversationId: string): Promise<string[]> {
  const rows = await database<{ outcome: string }[]>`
    select outcome from tool_calls where conversation_id = ${conversationId} order by call_number, call_index`;
  return rows.map(({ outcome }) => outcome);
}

function expectEachOnce(effects: readonly number[], outcomes: readonly string[], steps: number): void {
  const told = outcomes.map((outcome, at) => {
    const times = effects.filter((number) => number === at + 1).length;
    return `${outcome}, ran ${times} times`;
  });
  expect(told).toEqual(Array.from({ length: steps }, () => 'succeeded, ran 1 times'));
}

/** Everything that `holdfast verify` checks in Postgres holds. */
export async function nothingIsBroken({ database }: TurnHarness): Promise<void> {
  const { invariants } = await verify(database);
  expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
}
