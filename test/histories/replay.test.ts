import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { dataConverter } from '../../src/temporal/data-converter.ts';
import { loadWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { keptHistories, manifest } from './kept-histories.ts';
import type { KeptHistory } from './kept-histories.ts';

let workflowBundle: Awaited<ReturnType<typeof loadWorkflowBundle>>;

beforeAll(async () => {
  workflowBundle = await loadWorkflowBundle();
});

/** @throws an error that says what to do: the message that vitest gives an assertion is not shown when a promise is rejected. */
async function replay({ path, text }: Pick<KeptHistory, 'path' | 'text'>): Promise<void> {
  try {
    await Worker.runReplayHistory({ workflowBundle, dataConverter }, JSON.parse(text));
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The workflow no longer replays the kept history ${path}: ${said}\nTurns under way would break at a deploy. Guard the change with patched(), or revert it; see docs/versions.md.`,
      { cause: error },
    );
  }
}

test.each(keptHistories())('$path replays with the code of today', replay);

test('no kept history was changed or removed', () => {
  const present = Object.fromEntries(keptHistories().map((kept) => [kept.path, kept.sha256]));
  expect(present).toEqual(manifest());
  expect(Object.keys(present).length).toBeGreaterThan(5);
});

test('a history whose activities are in another order does not replay, and the message names it and says what to do', async () => {
  const [history] = keptHistories();
  const path = history?.path ?? '';
  const replayed = replay({ path, text: history?.text.replaceAll('"compactContext"', '"takeMessages"') ?? '' });
  await expect(replayed).rejects.toThrow(/[Nn]ondeterminism/);
  await expect(replayed).rejects.toThrow('patched()');
  await expect(replayed).rejects.toThrow('docs/versions.md');
  await expect(replayed).rejects.toThrow(path);
});
