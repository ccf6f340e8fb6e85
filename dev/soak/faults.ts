import type { SeededRandom } from '../random.ts';

type Fault = Readonly<Record<string, unknown>>;

/** What a model server does wrong at any moment; each strikes one request. */
const FAULTS: readonly Fault[] = [
  { kind: 'server_error' },
  { kind: 'server_error', status: 529 },
  { kind: 'rate_limit', retryAfterSeconds: 1 },
  { kind: 'rate_limit', retryAfterSeconds: 12 },
  { kind: 'connection_reset' },
  { kind: 'cut_stream' },
  { kind: 'stream_error' },
  { kind: 'delay', milliseconds: 1_500 },
  { kind: 'malformed_arguments' },
  { kind: 'unknown_tool' },
  { kind: 'empty_answer' },
  { kind: 'summary_empty' },
  { kind: 'summary_cut_off' },
  { kind: 'summary_without_sections' },
];

/**
 * About 55 % of the window: no server refuses what is far below it, and in a view that would be made smaller by as much as such a
 * refusal asks for, the task itself had to be clipped.
 *
 * @param window thousand tokens
 */
export function overflowFault(window: number) {
  return { kind: 'overflow', match: { purpose: 'agent', minimumCharacters: 2_250 * window } } as const;
}

/** Arms one fault, chosen by the seed. */
export async function armFault(simulatorUrl: string, random: SeededRandom, window: number): Promise<void> {
  await request(simulatorUrl, 'POST', JSON.stringify(random.pick([...FAULTS, overflowFault(window)])));
}

export async function clearFaults(simulatorUrl: string): Promise<void> {
  await request(simulatorUrl, 'DELETE');
}

async function request(simulatorUrl: string, method: string, body?: string): Promise<void> {
  const response = await fetch(`${simulatorUrl}/control/faults`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  if (!response.ok) throw new Error(`the simulator refused ${method} faults: ${response.status}`);
}
