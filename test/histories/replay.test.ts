import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { dataConverter } from '../../src/temporal/data-converter.ts';
import { loadWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { keptHistories, manifest } from './kept-histories.ts';

let workflowBundle: Awaited<ReturnType<typeof loadWorkflowBundle>>;

beforeAll(async () => {
  workflowBundle = await loadWorkflowBundle();
});

const HELP =
  'The workflow no longer replays this kept history, so turns under way would break at a deploy. Guard the change with patched(), or revert it; see docs/versions.md.';

async function replay(text: string): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle, dataConverter }, JSON.parse(text));
}

test.each(keptHistories())('$path replays with the code of today', async ({ text }) => {
  await expect(replay(text), HELP).resolves.toBeUndefined();
});

test('no kept history was changed or removed', () => {
  const present = Object.fromEntries(keptHistories().map((kept) => [kept.path, kept.sha256]));
  expect(present).toEqual(manifest());
  expect(Object.keys(present).length).toBeGreaterThan(5);
});

test('a history whose activities are in another order does not replay', async () => {
  const [history] = keptHistories();
  const changed = history?.text.replaceAll('"compactContext"', '"takeMessages"') ?? '';
  await expect(replay(changed)).rejects.toThrow(/[Nn]ondeterminism|determinism/);
});
