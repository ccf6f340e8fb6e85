import { z } from 'zod';

const answer = z.object({ path: z.string() });

/**
 * An address that logs a browser in to a server without keys: the first browser that opens it. A server with keys asks for one itself.
 * @param url of the server
 */
export async function loginLink(url: string): Promise<string> {
  const response = await fetch(`${url}/login-links`, { method: 'POST' });
  if (!response.ok) return url;
  const { path } = answer.parse(await response.json());
  return `${url}${path}`;
}
