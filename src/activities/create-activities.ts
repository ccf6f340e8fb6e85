import { definedOf } from '../context/policy/defined-of.ts';
import { activity } from './runtime/activity.ts';
import type { ActivityInput, Execution } from './runtime/activity.ts';
import { beginTurn, continueTurn } from './turn/begin-and-end-turn.ts';
import { callModel } from './model/call-model.ts';
import { changeBranch } from './turn/change-branch.ts';
import { commitCompaction } from './compaction/commit-compaction.ts';
import { askHooks } from './compaction/ask-hooks.ts';
import { compactContext } from './compaction/compact-context.ts';
import type { ActivityDependencies } from './runtime/dependencies.ts';
import { endTurn, lookForStop } from './turn/begin-and-end-turn.ts';
import { readTimeLeft } from './turn/check-limits.ts';
import { requestDecisions } from './tool/decisions.ts';
import { runTool } from './tool/run-tool.ts';
import { summarize } from './compaction/summarize.ts';

export type Activities = ReturnType<typeof createActivities>;

type Body<Input, Output> = (dependencies: ActivityDependencies, input: Input, execution: Execution) => Promise<Output>;

/** One activity per verb of a turn. */
export function createActivities(dependencies: ActivityDependencies) {
  const bind = <Input extends ActivityInput, Output>(
    name: string,
    body: Body<Input, Output>,
    givenUp?: () => NoInfer<Output>,
  ) => {
    const run = (input: Input, execution: Execution): Promise<Output> => body(dependencies, input, execution);
    return activity<Input, Output>(dependencies, { name, run, ...definedOf({ givenUp }) });
  };
  return {
    beginTurn: bind('beginTurn', beginTurn),
    continueTurn: bind('continueTurn', continueTurn),
    lookForStop: bind('lookForStop', lookForStop),
    readTimeLeft: bind('readTimeLeft', readTimeLeft),
    compactContext: bind('compactContext', compactContext),
    askHooks: bind('askHooks', askHooks),
    // The commit finds an unwritten part and plans the next weaker form.
    summarize: bind('summarize', summarize, () => ({ kind: 'failed' as const })),
    commitCompaction: bind('commitCompaction', commitCompaction),
    changeBranch: bind('changeBranch', changeBranch),
    callModel: bind('callModel', callModel),
    requestDecisions: bind('requestDecisions', requestDecisions),
    runTool: bind('runTool', runTool),
    endTurn: bind('endTurn', endTurn),
  };
}
