import { errorCode, StackError } from '../../local/stack-error.ts';
import { describeError, errorLines } from '../describe-error.ts';

/** Variables of OpenTelemetry that ask for an exporter. */
const ASKED = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
];

/**
 * Starts OpenTelemetry's SDK where its own variables ask for it (docs/observe.md), before anything is measured.
 * @param service name that is shown, unless `OTEL_SERVICE_NAME` says another one
 * @returns sends what is left, and ends
 */
export async function startTelemetry(service: string): Promise<() => Promise<void>> {
  const { env } = process;
  if (ASKED.every((name) => (env[name] ?? '') === '')) return async () => undefined;
  // What nobody asked for would be sent to this machine's port 4318 by default.
  const hasEndpoint = (env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '') !== '';
  for (const kind of ['TRACES', 'METRICS']) {
    const isAsked = hasEndpoint || (env[`OTEL_EXPORTER_OTLP_${kind}_ENDPOINT`] ?? '') !== '';
    env[`OTEL_${kind}_EXPORTER`] ??= isAsked ? 'otlp' : 'none';
  }
  env['OTEL_LOGS_EXPORTER'] ??= 'none';
  env['OTEL_SERVICE_NAME'] ??= service;
  // Not the command line, which may name more than a collector should know.
  env['OTEL_NODE_RESOURCE_DETECTORS'] ??= 'env,host';
  const [{ NodeSDK }, { diag, DiagConsoleLogger, DiagLogLevel, metrics }, { monitorEventLoopDelay }] =
    await Promise.all([import('@opentelemetry/sdk-node'), import('@opentelemetry/api'), import('node:perf_hooks')]);
  // Otherwise a port that is taken, or a collector that does not answer, is never heard of. With this variable the SDK logs by itself.
  if ((env['OTEL_LOG_LEVEL'] ?? '') === '') {
    const log = new DiagConsoleLogger();
    const { error: write } = log;
    log.error = (failure, ...rest) => write(portTaken(failure) ?? failure, ...rest);
    diag.setLogger(log, DiagLogLevel.ERROR);
  }
  const sdk = new NodeSDK({ instrumentations: [] });
  sdk.start();
  const delay = monitorEventLoopDelay();
  delay.enable();
  metrics
    .getMeter('holdfast')
    .createObservableGauge('holdfast.event_loop_delay_seconds', {
      unit: 's',
      description: 'Longest delay since the last look',
    })
    .addCallback((result) => {
      result.observe(delay.max / 1e9);
      delay.reset();
    });
  return () => sdk.shutdown();
}

/** Only the exporter for Prometheus listens. */
function portTaken(failure: unknown): string | null {
  if (errorCode(failure) !== 'EADDRINUSE') return null;
  const port = failure instanceof Error && 'port' in failure ? String(failure.port) : '';
  const what = `Port ${port} is taken, so this process serves no metrics to Prometheus.`;
  const fix = 'Choose another with OTEL_EXPORTER_PROMETHEUS_PORT.';
  return errorLines(describeError(new StackError('port_taken', what, fix))).join('\n');
}
