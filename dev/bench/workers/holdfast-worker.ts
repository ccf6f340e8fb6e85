import { pino } from 'pino';
import { withAgents } from '../../../src/config/configuration.ts';
import { defineAgent } from '../../../src/config/define-agent.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { reducersWith } from '../../../src/config/reducers.ts';
import { startWorker } from '../../../src/worker/start-worker.ts';
import type { ActivityObserver } from '../../../src/worker/start-worker.ts';
import { pause, TOOLS } from './tools.ts';
import { HURRIED, HURRIED_SECONDS, READER, TASK_QUEUES } from './settings.ts';
import type { MeasuredWorker, WorkerSettings } from './settings.ts';

/**
 * A worker as applications start it, upkeep by the clock left out so that nothing else runs meanwhile, and with a
 * compactContext that first takes as long as the raw workflow's counterpart does.
 */
export async function createHoldfastWorker(settings: WorkerSettings): Promise<MeasuredWorker> {
  const { databaseUrl, simulatorUrl, workspace, concurrentWork, temporal } = settings;
  const environment = { HOLDFAST_SIMULATOR_URL: simulatorUrl };
  const names = TOOLS.map(({ name }) => name);
  const common = { instructions: 'You do what the script says.', limits: { steps: 10_000 }, workspace };
  const agents = [
    defineAgent({ ...common, name: 'default', model: 'simulator/sim-200k', tools: TOOLS }),
    defineAgent({
      ...common,
      name: HURRIED,
      model: 'simulator/sim-200k',
      limits: { wallTime: HURRIED_SECONDS },
      tools: TOOLS,
    }),
    defineAgent({ ...common, name: READER, model: 'simulator/sim-8k', tools: [...TOOLS, 'read_file'] }),
  ];
  const worker = await startWorker({
    configuration: withAgents(loadConfiguration({ directory: workspace, environment, toolNames: names }), agents),
    databaseUrl,
    databaseListenUrl: null,
    temporal,
    taskQueue: TASK_QUEUES.holdfast,
    tools: TOOLS,
    reducers: reducersWith([]),
    beforeCompaction: [],
    concurrentWork,
    shutdownGraceMilliseconds: 1_000,
    environment,
    crashPoints: undefined,
    hasTimedUpkeep: false,
    observer: withPause,
    logger: pino({ level: 'silent' }),
  });
  return { identity: worker.identity, ended: worker.ended, shutdown: () => worker.shutdown() };
}

const withPause: ActivityObserver = (make) => {
  const activities = make({ database: (database) => database, reached: () => undefined });
  return {
    ...activities,
    async compactContext(input) {
      await pause();
      return activities.compactContext(input);
    },
  };
};
