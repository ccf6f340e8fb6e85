import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** Compiled: to compile it again takes longer than all else here. */
const TELEMETRY = new URL('../../../dist/cli/services/telemetry.js', import.meta.url).href;
const PROGRAM = `await (await (await import('${TELEMETRY}')).startTelemetry('holdfast-test'))();`;

test('an exporter whose port is taken says so on standard error', async () => {
  const other = createServer().listen(0);
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const address = other.address();
  const port = String(typeof address === 'object' ? address?.port : '');
  // OpenTelemetry writes to the console of its first import, so this needs a process of its own.
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    env: { ...process.env, OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: port },
  });
  expect(stderr).toBe(
    `error (port_taken): Port ${port} is taken, so this process serves no metrics to Prometheus.\n` +
      'next: Choose another with OTEL_EXPORTER_PROMETHEUS_PORT.\n',
  );
});
