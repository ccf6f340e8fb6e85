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
  // About 9,000 of 16,384 tokens: no server refuses what is far below the window, and in a view that would be made smaller
  // by as much as such a refusal asks for, the task itself had to be clipped.
  { kind: 'overflow', match: { purpose: 'agent', minimumCharacters: 36_000 } },
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
