import { choosePort, freePort, isPortFree } from './ports.ts';
import { StackError } from './stack-error.ts';

/** Ports of the local stack, all on 127.0.0.1. */
export interface StackPorts {
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly simulator: number;
  readonly server: number;
}

/**
 * Temporal's are its own defaults. Postgres's is not 5432 nor a neighbour of it, where many machines run one already, and below
 * the range that systems hand out for outgoing connections.
 */
export const DEFAULT_PORTS: StackPorts = {
  postgres: 7432,
  temporal: 7233,
  temporalUi: 8233,
  simulator: 8787,
  server: 7070,
};

const PORT_NAMES = ['postgres', 'temporal', 'temporalUi', 'simulator', 'server'] as const;

/** The option of `holdfast dev` that sets a port. */
const FLAGS: Readonly<Record<keyof StackPorts, string>> = {
  postgres: '--postgres-port',
  temporal: '--temporal-port',
  temporalUi: '--ui-port',
  simulator: '--simulator-port',
  server: '--server-port',
};

export interface PortPreferences {
  /** Ports that must be used. */
  readonly asked: Partial<StackPorts>;
  /** Ports of an earlier start. */
  readonly remembered: Partial<StackPorts>;
  /** True: any free port instead of the defaults and their neighbours, for a stack that is there for a moment only. */
  readonly isAnyPortGood: boolean;
}

/** The ports of a stack. They can change until a service listens on its own: another program may be quicker. */
export class PortPlan {
  private readonly preferences: PortPreferences;
  private chosen: StackPorts;

  private constructor(preferences: PortPreferences, chosen: StackPorts) {
    this.preferences = preferences;
    this.chosen = chosen;
  }

  /**
   * A port for each service: one that was asked for, else the remembered one when it is free, else the default, else the next
   * free one.
   *
   * @throws StackError `port_taken` when a port that was asked for is not free.
   */
  static async make(preferences: PortPreferences): Promise<PortPlan> {
    const { asked, remembered, isAnyPortGood } = preferences;
    const chosen: Record<keyof StackPorts, number> = { ...DEFAULT_PORTS };
    const reserved = new Set<number>();
    for (const name of PORT_NAMES) {
      const wanted = asked[name];
      if (wanted !== undefined) await refuseTaken(name, wanted);
      const preferred = remembered[name] ?? (isAnyPortGood ? await freePort() : DEFAULT_PORTS[name]);
      chosen[name] = wanted ?? (await choosePort(preferred, reserved));
      reserved.add(chosen[name]);
    }
    return new PortPlan(preferences, chosen);
  }

  ports(): StackPorts {
    return this.chosen;
  }

  /**
   * After a start that failed: replaces those of the ports that another program has taken meanwhile.
   *
   * @returns false when none was, or when one was asked for: then the failure stands.
   */
  async replaceTaken(names: readonly (keyof StackPorts)[]): Promise<boolean> {
    const taken: (keyof StackPorts)[] = [];
    for (const name of names) if (!(await isPortFree(this.chosen[name]))) taken.push(name);
    if (taken.length === 0 || taken.some((name) => this.preferences.asked[name] !== undefined)) return false;
    for (const name of taken) this.chosen = { ...this.chosen, [name]: await freePort() };
    return true;
  }
}

async function refuseTaken(name: keyof StackPorts, port: number): Promise<void> {
  if (await isPortFree(port)) return;
  throw new StackError(
    'port_taken',
    `Port ${port} is taken.`,
    `Choose another ${FLAGS[name]}, or leave it out to have a free one chosen.`,
  );
}
