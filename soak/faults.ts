import type { Random } from './random.ts';

/** What a model server does wrong at any moment; each strikes one request. */
const FAULTS: readonly Readonly<Record<string, unknown>>[] = [
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
  // No server refuses what is far below the window; and what has nothing but the task could only be made smaller by clipping it.
  { kind: 'overflow', match: { purpose: 'agent', minimumCharacters: 24_000 } },
  { kind: 'summary_empty' },
  { kind: 'summary_cut_off' },
  { kind: 'summary_without_sections' },
];

/** Arms one fault, chosen by the seed. */
export async function armFault(simulatorUrl: string, random: Random): Promise<void> {
  await request(simulatorUrl, 'POST', JSON.stringify(random.pick(FAULTS)));
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
