import { z } from 'zod';

const report = z.object({ requests: z.array(z.object({ body: z.unknown() })) });

/** The newest requests that the simulator got, oldest of them first. */
export async function newestRequests(simulatorUrl: string, count: number): Promise<unknown[]> {
  const response = await fetch(`${simulatorUrl}/control/requests?last=${count}`);
  const { requests } = report.parse(await response.json());
  return requests.map(({ body }) => body);
}
