/** What a test steers the simulator by, and sees of what it was asked. */
export interface SimulatorControls {
  /** Makes the simulator fail; see `packages/simulator/src/faults/fault.ts`. */
  fault(fault: Record<string, unknown>): Promise<void>;
  /** Answers to requests that match wait until the function that is returned is called, or all faults are cleared. */
  hold(match: Record<string, unknown>): Promise<() => Promise<void>>;
  clearFaults(): Promise<void>;
  /** How often the simulator was asked so far. */
  asked(): Promise<SimulatorCounts>;
  /** What it was asked, the newest requests with their bodies: megabytes, so nothing to look at again and again. */
  requests(): Promise<SimulatorReport>;
}

interface SimulatorCounts {
  readonly total: number;
  readonly agent: number;
  readonly summary: number;
}

interface SimulatorReport extends SimulatorCounts {
  readonly requests: readonly {
    readonly purpose: string;
    readonly inputTokens: number;
    readonly status: number;
    readonly body?: unknown;
  }[];
}

export function steerSimulator(url: string): SimulatorControls {
  return {
    async fault(fault) {
      await control(url, 'POST', 'faults', fault);
    },
    async hold(match) {
      const { id } = (await control(url, 'POST', 'faults', { kind: 'hold', match })) as { id: string };
      return async () => {
        await control(url, 'DELETE', `faults/${id}`);
      };
    },
    async clearFaults() {
      await control(url, 'DELETE', 'faults');
    },
    asked: async () => (await control(url, 'GET', 'requests?last=0')) as SimulatorCounts,
    requests: async () => (await control(url, 'GET', 'requests?last=1000')) as SimulatorReport,
  };
}

async function control(url: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${url}/control/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`simulator refused ${method} ${path}: ${await response.text()}`);
  return response.json();
}
