import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startTelemetry } from '../../../src/cli/services/telemetry.ts';

test('an exporter whose port is taken says so on standard error', async () => {
  const other = createServer().listen(0);
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const address = other.address();
  vi.stubEnv('OTEL_METRICS_EXPORTER', 'prometheus');
  vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_PORT', String(typeof address === 'object' ? address?.port : ''));
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const end = await startTelemetry('holdfast-test');
  await expect.poll(() => String(said.mock.calls)).toContain('EADDRINUSE');
  await end();
  vi.unstubAllEnvs();
  said.mockRestore();
});
