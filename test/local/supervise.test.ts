import { EventEmitter, once } from 'node:events';
import { assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { restartDelay, supervise } from '../../src/local/supervise.ts';
import type { RunningService, ServiceEvent } from '../../src/local/supervise.ts';
import { startGuardedProcess } from '../../src/local/guarded-process.ts';
import { waitUntil } from '../support/wait-until.ts';

async function startScript(script: string): Promise<RunningService> {
  const process = await startGuardedProcess({
    name: 'script',
    command: '/bin/sh',
    arguments: ['-c', script],
    environment: { PATH: '/usr/bin:/bin' },
    workingDirectory: '/',
  });
  return { process, stop: () => process.stop() };
}

/** What happens to a service. A wait for an event is told at once: half a second after an end the service starts again. */
function recordEvents() {
  const events: ServiceEvent[] = [];
  const told = new EventEmitter();
  return {
    events,
    record: (event: ServiceEvent): void => {
      events.push(event);
      told.emit(event.kind);
    },
    next: async (kind: ServiceEvent['kind']): Promise<void> => void (await once(told, kind)),
  };
}

const FOREVER = 'while :; do sleep 0.05; done';

describe('supervision', () => {
  test('a start that fails is tried again with a growing wait', async () => {
    const events: ServiceEvent[] = [];
    let starts = 0;
    const definition = {
      name: 'worker' as const,
      logFile: 'worker.log',
      start: async (): Promise<RunningService> => {
        starts += 1;
        if (starts === 2) throw new Error('port taken');
        return startScript(starts === 1 ? 'exit 1' : FOREVER);
      },
    };
    const service = await supervise(definition, (event) => events.push(event));
    await waitUntil('the third start succeeded', () => events.at(-1)?.kind === 'ready' && starts === 3);
    expect(events.map(({ kind }) => kind)).toEqual(['starting', 'ready', 'ended', 'restart_failed', 'ready']);
    expect(events[3]).toMatchObject({ restartMilliseconds: 1000, error: new Error('port taken') });
    await service.stop();
  });

  test('a stop while it waits for a restart ends at once and starts nothing', async () => {
    const { events, record, next } = recordEvents();
    let starts = 0;
    const start = async (): Promise<RunningService> => {
      starts += 1;
      return startScript('exit 1');
    };
    const ended = next('ended');
    const service = await supervise({ name: 'worker', logFile: 'worker.log', start }, record);
    await ended;
    await service.stop();
    expect(starts).toBe(1);
    expect(events.at(-1)?.kind).toBe('stopping');
  });

  test('a restart that is asked for is made at once, also in a wait, and the failures before it count no more', async () => {
    const { events, record, next } = recordEvents();
    const scripts = [FOREVER, 'exit 1', 'exit 1', FOREVER];
    const start = (): Promise<RunningService> => startScript(scripts.shift() ?? FOREVER);
    const service = await supervise({ name: 'worker', logFile: 'worker.log', start }, record);
    for (let ends = 1; ends <= 2; ends += 1) {
      const endedByItself = next('ended');
      await service.restart();
      await endedByItself;
    }
    expect(events.filter(({ kind }) => kind === 'ended')).toMatchObject(
      [1, 1].map((ends) => ({ restartMilliseconds: restartDelay(ends) })),
    );
    await service.restart();
    await waitUntil('it runs', () => events.at(-1)?.kind === 'ready');
    const kinds = ['starting', 'ready', 'starting', 'ready', 'ended', 'ready', 'ended', 'ready'];
    expect(events.map(({ kind }) => kind)).toEqual(kinds);
    await service.stop();
  });

  test('the wait doubles, never shrinks, and has an end', () => {
    assert(
      property(integer({ min: 1, max: 1000 }), (failures) => {
        expect(restartDelay(failures + 1)).toBeGreaterThanOrEqual(restartDelay(failures));
        expect(restartDelay(failures)).toBeLessThanOrEqual(30_000);
      }),
    );
    expect([1, 2, 3, 7, 8].map(restartDelay)).toEqual([500, 1000, 2000, 30_000, 30_000]);
  });
});
