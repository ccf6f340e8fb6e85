import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { chooseStackPorts } from '../../src/local/choose-ports.ts';
import { choosePort, freePort, isPortFree, LOCAL_HOST } from '../../src/local/ports.ts';

const listeners: Server[] = [];
afterEach(() => {
  for (const server of listeners.splice(0)) server.close();
});

async function occupy(port: number): Promise<void> {
  const server = createServer();
  listeners.push(server);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, LOCAL_HOST, resolve));
}

describe('choosing ports', () => {
  test('a free preferred port is taken, a busy one replaced by its next free neighbour', async () => {
    const port = await freePort();
    expect(await choosePort(port)).toBe(port);
    await occupy(port);
    expect(await isPortFree(port)).toBe(false);
    const chosen = await choosePort(port);
    expect(chosen).toBeGreaterThan(port);
    expect(await isPortFree(chosen)).toBe(true);
  });

  test('a port that is promised to another service is not chosen', async () => {
    const port = await freePort();
    expect(await choosePort(port, new Set([port]))).not.toBe(port);
  });

  test('remembered ports are used again; four services never share one', async () => {
    const remembered = { postgres: await freePort(), temporal: await freePort() };
    const ports = await chooseStackPorts({}, remembered);
    expect(ports).toMatchObject(remembered);
    expect(new Set(Object.values(ports)).size).toBe(4);
  });

  test('a port that was asked for and is taken is refused by name', async () => {
    const port = await freePort();
    await occupy(port);
    await expect(chooseStackPorts({ temporalUi: port }, {})).rejects.toMatchObject({
      code: 'HOLDFAST_PORT_TAKEN',
      message: expect.stringMatching(new RegExp(`Port ${port} is taken.*--ui-port`)),
    });
  });
});
