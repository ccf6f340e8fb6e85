import type { StackPorts } from './choose-ports.ts';
import type { ServiceEvent, ServiceName } from './supervise.ts';

export interface LocalStackOptions {
  /** State folder, usually `.holdfast`; made when it is missing. */
  readonly directory: string;
  /** Which services to run. A server that the environment names is never started. Default: all but the server. */
  readonly services?: readonly ServiceName[];
  /** Ports that must be used; others are chosen and remembered. */
  readonly ports?: Partial<StackPorts>;
  /** True: any free ports at the first start, not the defaults or their neighbours. Default: false. */
  readonly isAnyPortGood?: boolean;
  /** `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `DATABASE_URL` and `HOLDFAST_SIMULATOR_URL` win over what would be started; the rest is passed on to the worker. Default: `process.env`. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Where the worker runs. Default: the folder that holds `directory`. */
  readonly workingDirectory?: string;
  /** Node's arguments of the worker instead of `holdfast worker`, for tests of the stack itself. */
  readonly workerCommand?: readonly string[];
  /** False only for data that may be lost: no fsync. Default: true. */
  readonly durable?: boolean;
  /** Ends the start between two steps; what runs is stopped. */
  readonly signal?: AbortSignal;
  /** A line on what takes long, such as a download. */
  readonly onProgress?: (line: string) => void;
  readonly onEvent?: (event: ServiceEvent) => void;
}
