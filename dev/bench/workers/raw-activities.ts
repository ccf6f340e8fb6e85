import { pause } from './tools.ts';

export type RawActivities = ReturnType<typeof createRawActivities>;

/**
 * The same bodies as a step of Holdfast and nothing else: 20 ms, the same request to the simulator
 * with its answer read to the end, 20 ms. Each returns how long its body took, in milliseconds.
 *
 * @param requests bodies of the requests that Holdfast made, one of each step
 */
export function createRawActivities(simulatorUrl: string, requests: readonly string[]) {
  return {
    compactContext: async (): Promise<number> => timed(pause),
    runTool: async (): Promise<number> => timed(pause),
    callModel: async ({ step }: { readonly step: number }): Promise<number> =>
      timed(async () => {
        const response = await fetch(`${simulatorUrl}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': 'bench', 'anthropic-version': '2023-06-01' },
          body: requests[step % requests.length] ?? '',
        });
        const answer = await response.text();
        if (!response.ok || answer === '') throw new Error(`the simulator answered ${response.status}: ${answer}`);
      }),
  };
}

async function timed(body: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await body();
  return Math.round((performance.now() - started) * 100) / 100;
}
