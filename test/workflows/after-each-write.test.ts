import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startDyingWorkers } from '../support/worker-deaths.ts';
import { writeLogs } from './presets/scenario.ts';
import { SCENARIOS } from './write-scenarios.ts';
import type { Scenario } from './write-scenarios.ts';

async function openScenario({ options, hasShortHistory }: Scenario): Promise<TurnHarness> {
  const temporalAddress = inject(hasShortHistory === true ? 'shortHistoryTemporalAddress' : 'temporalAddress');
  const harness = await startTurnHarness({ temporalAddress, ...options });
  await mkdir(join(harness.workspace, '.cowork'));
  await writeLogs(harness, 25, 90);
  return harness;
}

/** What stands in the log of a conversation, ids and times left out. */
async function entriesOf({ client }: TurnHarness, conversationId: string): Promise<unknown> {
  const { items: entries } = await client.log.entries({ conversationId, limit: 1_000 });
  return entries.map(({ kind, sequence, content }) => ({ kind, sequence, content }));
}

test.concurrent.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  '%s: whichever write is the last of a worker, another one goes on as if nothing had happened',
  async (_, scenario) => {
    const { task, before, between = [], reaches, undisturbed, end = { outcome: 'completed' } } = scenario;
    const harness = await openScenario(scenario);
    try {
      await before?.(harness);
      const sent = await harness.client.start(task);
      const deaths = await startDyingWorkers(
        harness,
        between.map(([kind, act]) => [kind, async () => act(harness, sent)]),
      );
      const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 400_000 });
      expect(turn).toMatchObject(end);
      // A change of branch is a turn of its own. What has not been reached tells more than that time is over.
      const missing = (): RegExp[] => reaches.filter((kind) => !deaths.some((death) => kind.test(death)));
      await waitUntil('each kind is reached', () => missing().length === 0).catch(() =>
        expect({ missing: missing(), deaths }).toEqual({ missing: [] }),
      );
      if (undisturbed !== undefined) {
        await undisturbed(harness);
        const { conversationId } = await harness.runTask(task);
        expect(await entriesOf(harness, sent.conversationId)).toEqual(await entriesOf(harness, conversationId));
      }
      await expectAllHolds(harness);
    } finally {
      await harness.stop();
    }
  },
);
