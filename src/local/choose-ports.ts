import { choosePort, isPortFree } from './ports.ts';
import { StackError } from './stack-error.ts';

/** Ports of the local stack, all on 127.0.0.1. */
export interface StackPorts {
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly simulator: number;
}

/**
 * Temporal's are its own defaults. Postgres's is not 5432 nor a neighbour of it, where many machines run one already, and below
 * the range that systems hand out for outgoing connections.
 */
export const DEFAULT_PORTS: StackPorts = { postgres: 7432, temporal: 7233, temporalUi: 8233, simulator: 8787 };

const PORT_NAMES = ['postgres', 'temporal', 'temporalUi', 'simulator'] as const;

/** The option of `holdfast dev` that sets a port. */
const FLAGS: Readonly<Record<keyof StackPorts, string>> = {
  postgres: '--postgres-port',
  temporal: '--temporal-port',
  temporalUi: '--ui-port',
  simulator: '--simulator-port',
};

/**
 * A port for each service: one that was asked for, else the remembered one when it is free, else the default, else the next
 * free one.
 *
 * @throws StackError `HOLDFAST_PORT_TAKEN` when a port that was asked for is not free.
 */
export async function chooseStackPorts(
  asked: Partial<StackPorts>,
  remembered: Partial<StackPorts>,
): Promise<StackPorts> {
  const chosen: Record<keyof StackPorts, number> = { ...DEFAULT_PORTS };
  const reserved = new Set<number>();
  for (const name of PORT_NAMES) {
    const wanted = asked[name];
    if (wanted !== undefined && !(await isPortFree(wanted))) {
      throw new StackError(
        'HOLDFAST_PORT_TAKEN',
        `Port ${wanted} is taken.`,
        `Choose another ${FLAGS[name]}, or leave it out to have a free one chosen.`,
      );
    }
    chosen[name] = wanted ?? (await choosePort(remembered[name] ?? DEFAULT_PORTS[name], reserved));
    reserved.add(chosen[name]);
  }
  return chosen;
}
