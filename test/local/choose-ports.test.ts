import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_PORTS, PortPlan } from '../../src/local/choose-ports.ts';
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

  test('remembered ports are used again; services never share one', async () => {
    const remembered = { postgres: await freePort(), temporal: await freePort() };
    const ports = (await PortPlan.make({ asked: {}, remembered, isAnyPortGood: false })).ports();
    expect(ports).toMatchObject(remembered);
    expect(new Set(Object.values(ports)).size).toBe(5);
  });

  test('where any port is good, the defaults and their neighbours are left to others', async () => {
    const ports = (await PortPlan.make({ asked: {}, remembered: {}, isAnyPortGood: true })).ports();
    for (const name of ['postgres', 'temporal', 'temporalUi', 'simulator', 'server'] as const) {
      expect(Math.abs(ports[name] - DEFAULT_PORTS[name])).toBeGreaterThan(20);
    }
  });

  test('a port that was asked for and is taken is refused by name', async () => {
    const port = await freePort();
    await occupy(port);
    await expect(
      PortPlan.make({ asked: { temporalUi: port }, remembered: {}, isAnyPortGood: true }),
    ).rejects.toMatchObject({
      code: 'port_taken',
      message: expect.stringMatching(new RegExp(`Port ${port} is taken.*--ui-port`)),
    });
  });

  test('a port that another program took before the service listened is replaced, the others stay', async () => {
    const plan = await PortPlan.make({ asked: {}, remembered: {}, isAnyPortGood: true });
    const before = plan.ports();
    expect(await plan.replaceTaken(['temporal', 'temporalUi'])).toBe(false);
    await occupy(before.temporalUi);
    expect(await plan.replaceTaken(['temporal', 'temporalUi'])).toBe(true);
    expect(plan.ports()).toEqual({ ...before, temporalUi: expect.any(Number) });
    expect(plan.ports().temporalUi).not.toBe(before.temporalUi);
  });

  test('one that was asked for is not replaced', async () => {
    const port = await freePort();
    const plan = await PortPlan.make({ asked: { postgres: port }, remembered: {}, isAnyPortGood: true });
    await occupy(port);
    expect(await plan.replaceTaken(['postgres'])).toBe(false);
  });
});
