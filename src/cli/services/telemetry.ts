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
  // Otherwise a port that is taken, or a collector that does not answer, is never heard of.
  env['OTEL_LOG_LEVEL'] ??= 'error';
  // Not the command line, which may name more than a collector should know.
  env['OTEL_NODE_RESOURCE_DETECTORS'] ??= 'env,host';
  const [{ NodeSDK }, { metrics }, { monitorEventLoopDelay }] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/api'),
    import('node:perf_hooks'),
  ]);
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
