import { Context } from '@temporalio/activity';
import { expect, inject, test } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { startScriptedTurn } from './support/scripted-turn.ts';

test.each([
  { how: 'fails', within: () => Promise.reject(new TypeError('within the workflow task')) },
  { how: 'takes too long for a workflow task', within: () => Context.current().cancelled },
])('a check that $how is repeated as an activity, with the retries of all others', async ({ within }) => {
  const tries: string[] = [];
  const turn = await startScriptedTurn(inject('temporalAddress'), () => ({
    compactContext: async () => {
      const { isLocal, attempt } = Context.current().info;
      tries.push(isLocal ? 'within the task' : `attempt ${attempt}`);
      if (isLocal) return within();
      if (attempt === 1) throw new TypeError('once more');
      return { kind: 'fits', view: { headEntryId: 'head', tokens: 1 } };
    },
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  expect(tries).toEqual(['within the task', 'attempt 1', 'attempt 2']);
});

test.each([
  ['committed', 1],
  ['kept', 0],
] as const)('a compaction that comes back as %s is shown as %d of them', async (kind, shown) => {
  const view = { headEntryId: 'head', tokens: 100 };
  const planned = { compactionId: newId(), waves: [], tokensBefore: 1_000 };
  const turn = await startScriptedTurn(inject('temporalAddress'), () => ({
    compactContext: async () => ({ kind: 'planned', planned }),
    commitCompaction: async () => ({ kind, view }),
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  const handle = turn.temporal.workflow.getHandle(turnWorkflowId(turn.conversationId));
  expect(JSON.stringify(await handle.query('__temporal_workflow_metadata'))).toContain(`| compactions | ${shown} |`);
});
