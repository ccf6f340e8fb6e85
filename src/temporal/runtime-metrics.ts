import { metrics } from '@opentelemetry/api';
import type { Attributes } from '@opentelemetry/api';
import { MetricsBuffer } from '@temporalio/worker';
import type { BufferedMetricUpdate } from '@temporalio/worker';

/** Updates that are buffered between two reads; more are dropped. */
const BUFFERED_UPDATES = 100_000;
const LOOK_MILLISECONDS = 1_000;

type Update = Pick<BufferedMetricUpdate, 'value' | 'attributes'> & {
  readonly metric: Pick<BufferedMetricUpdate['metric'], 'kind' | 'name' | 'unit' | 'description'>;
};

/**
 * Sends Temporal's own metrics through OpenTelemetry, so that one address and one exporter serve both.
 * @returns the buffer of Temporal's runtime; `null` if no OpenTelemetry SDK was started
 */
export function createRuntimeMetrics(): MetricsBuffer | null {
  if (metrics.getMeterProvider().constructor.name === 'NoopMeterProvider') return null;
  const buffer = new MetricsBuffer({ maxBufferSize: BUFFERED_UPDATES });
  const record = recorder();
  setInterval(() => {
    for (const update of buffer.retrieveUpdates()) record(update);
  }, LOOK_MILLISECONDS).unref();
  return buffer;
}

/** Writes updates to instruments of the same names. */
export function recorder(): (update: Update) => void {
  const meter = metrics.getMeter('temporal');
  const instruments = new Map<string, (value: number, attributes: Attributes) => void>();
  const made = ({ kind, name, unit, description }: Update['metric']) => {
    const options = { ...(unit !== undefined && { unit }), ...(description !== undefined && { description }) };
    if (kind === 'gauge') {
      const gauge = meter.createGauge(name, options);
      return gauge.record.bind(gauge);
    }
    if (kind === 'histogram') {
      const histogram = meter.createHistogram(name, options);
      return histogram.record.bind(histogram);
    }
    const counter = kind === 'counter' ? meter.createCounter(name, options) : meter.createUpDownCounter(name, options);
    return counter.add.bind(counter);
  };
  return ({ metric, value, attributes }) => {
    let write = instruments.get(metric.name);
    if (write === undefined) instruments.set(metric.name, (write = made(metric)));
    write(value, attributes);
  };
}
