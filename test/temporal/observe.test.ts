import { readFileSync } from 'node:fs';
import { context, metrics as metricsApi, trace } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { metrics, node, tracing } from '@opentelemetry/sdk-node';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { traceAnswer, traceTexts, traceToolCall } from '../../src/activities/runtime/show-calls.ts';
import type { EventDataByKind, EventKind } from '../../src/store/log/timeline.ts';
import { observeEvent, observeTakeover } from '../../src/store/log/observe-events.ts';
import { recorder } from '../../src/temporal/runtime-metrics.ts';
import { inActivitySpan } from '../../src/temporal/trace-activities.ts';
import { EXAMPLE_EVENTS } from '../support/example-events.ts';

const exporter = new PrometheusExporter({ preventServerStart: true });
const spans = new tracing.InMemorySpanExporter();
const traces = new node.NodeTracerProvider({ spanProcessors: [new tracing.SimpleSpanProcessor(spans)] });
traces.register();
metricsApi.setGlobalMeterProvider(new metrics.MeterProvider({ readers: [exporter] }));

afterAll(() => {
  metricsApi.disable();
  trace.disable();
  context.disable();
});

function observe(kind: EventKind, data: EventDataByKind[EventKind] = EXAMPLE_EVENTS[kind]): void {
  observeEvent(kind, data as never);
}

async function exported(): Promise<string> {
  const { resourceMetrics } = await exporter.collect();
  return new PrometheusSerializer().serialize(resourceMetrics);
}

test('dashboard and alerts ask for metrics that exist', async () => {
  for (const kind of Object.keys(EXAMPLE_EVENTS)) observe(kind as EventKind);
  observeTakeover(1);
  const text = await exported();
  const there = new Set([...text.matchAll(/^(holdfast_\w+)/gmu)].map(([, name]) => name));
  // Of each process that exports, and of its database (src/cli/services/telemetry.ts, test/store/observe-database.test.ts).
  for (const name of ['event_loop_delay_seconds', 'database_connections', 'database_query_seconds'])
    there.add(`holdfast_${name}`);
  const read = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
  const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(read('grafana-dashboard.json'));
  const alerts: { groups: { rules: { expr: string }[] }[] } = parse(read('prometheus-alerts.yaml'));
  const asked = [
    ...dashboard.panels.flatMap(({ targets }) => targets),
    ...alerts.groups.flatMap(({ rules }) => rules),
  ].map(({ expr }) => expr);
  expect(asked.length).toBeGreaterThan(15);
  const names = asked.flatMap((expr) => [...expr.matchAll(/holdfast_\w+/gu)].map(([name]) => name));
  expect(names.filter((name) => !there.has(name))).toEqual([]);
  expect([...there].filter((name) => !/_(?:sum|count)$/u.test(name ?? '') && !names.includes(name ?? ''))).toEqual([]);
});

test('events count by what they say', async () => {
  const before = await exported();
  observe('turn_ended', { outcome: 'context_exhausted', reason: 'second_overflow' });
  observe('model_call_answered', {
    callNumber: 1,
    attempt: 1,
    entryId: 'e',
    inputTokens: 70_000,
    cachedTokens: 63_000,
    outputTokens: 7,
    cost: 0.25,
  });
  const after = await exported();
  const turns = /^holdfast_turns_total\{outcome="context_exhausted",reason="second_overflow"[^}]*\} 1$/mu;
  expect([turns.test(before), turns.test(after)]).toEqual([false, true]);
  expect(after).toMatch(/^holdfast_tokens_total\{direction="input"[^}]*\} 7\d{4}$/mu);
  expect(after).toMatch(/^holdfast_tokens_total\{direction="cached_input"[^}]*\} 6\d{4}$/mu);
  expect(after).toMatch(/^holdfast_cost_dollars_total\S* 0\.2\d$/mu);
});

test("Temporal's metrics are exported under their own names, each with its labels", async () => {
  const record = recorder();
  const attributes = { activity_type: 'callModel' };
  const update = (kind: 'counter' | 'histogram' | 'gauge', name: string, value: number, unit?: string) =>
    record({ metric: { kind, name, ...(unit !== undefined && { unit }) }, value, attributes });
  update('counter', 'temporal_workflow_task_execution_failed', 2);
  update('counter', 'temporal_workflow_task_execution_failed', 3);
  update('gauge', 'temporal_worker_task_slots_available', 7);
  update('histogram', 'temporal_activity_schedule_to_start_latency', 40, 'ms');
  const text = await exported();
  const valueOf = (name: string) =>
    new RegExp(`^${name}\\{activity_type="callModel"[^}]*\\} (\\S+)$`, 'mu').exec(text)?.[1];
  expect(valueOf('temporal_workflow_task_execution_failed_total')).toBe('5');
  expect(valueOf('temporal_worker_task_slots_available')).toBe('7');
  expect(valueOf('temporal_activity_schedule_to_start_latency_sum')).toBe('40');
});

test('all tries of a turn are of one trace, with what the model cost and without text', async () => {
  const turn = { conversationId: 'c', turnId: '01981f3c-0000-7000-8000-0000000000c1', epoch: 1 };
  const call = { turn, callNumber: 1, headEntryId: 'e' };
  const lost = inActivitySpan({ activityType: 'callModel', attempt: 1 }, call, async () => {
    throw new TypeError('the user said heron');
  });
  await expect(lost).rejects.toThrow('heron');
  await inActivitySpan({ activityType: 'callModel', attempt: 2 }, call, async () => {
    observe('model_call_started');
    await Promise.resolve();
    observe('model_call_answered');
  });
  await inActivitySpan({ activityType: 'endTurn', attempt: 1 }, { turn }, async () => observe('compaction_committed'));
  const [first, second, third] = spans.getFinishedSpans();
  const traceId = turn.turnId.replaceAll('-', '');
  expect([first, second, third].map((span) => span?.spanContext().traceId)).toEqual([traceId, traceId, traceId]);
  expect(first).toMatchObject({ name: 'chat', attributes: { 'error.type': 'TypeError' }, events: [] });
  expect(JSON.stringify([first?.attributes, first?.status])).not.toContain('heron');
  expect(second?.attributes).toMatchObject({
    'gen_ai.conversation.id': 'c',
    'gen_ai.provider.name': 'simulator',
    'gen_ai.request.model': 'sim-32k',
    'gen_ai.usage.input_tokens': 2_100,
    'holdfast.attempt': 2,
  });
  expect(third?.attributes).toMatchObject({ 'gen_ai.conversation.compacted': true });
});

test('texts of a conversation are on its spans only where the variable of OpenTelemetry asks for them', async () => {
  spans.reset();
  const content = [
    { type: 'text', text: 'heron' },
    { type: 'tool_call', id: 'call_1', index: 0, name: 'look', arguments: '{}' },
  ] as const;
  const summarizer = { model: 'simulator/sim-32k' };
  const answer = {
    content,
    stopReason: 'end',
    usage: { input: 900, output: 40, cacheRead: 700, cacheWrite: 0 },
  } as const;
  const trace = async () =>
    inActivitySpan({ activityType: 'summarize', attempt: 1 }, {}, async () => {
      traceAnswer(answer, summarizer);
      traceToolCall('{"path":"a"}', [{ type: 'text', text: 'crane' }]);
    });
  await trace();
  traceTexts();
  onTestFinished(() => {
    delete process.env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'];
  });
  await trace();
  const [silent, open] = spans.getFinishedSpans().map(({ attributes }) => attributes);
  expect(silent).toMatchObject({
    'gen_ai.request.model': 'sim-32k',
    'gen_ai.usage.input_tokens': 900,
    'gen_ai.usage.cache_read.input_tokens': 700,
  });
  expect(JSON.stringify(silent)).not.toMatch(/heron|crane|path/);
  expect(JSON.parse(String(open?.['gen_ai.output.messages']))).toMatchObject([
    {
      parts: [
        { type: 'text', content: 'heron' },
        { type: 'tool_call', name: 'look' },
      ],
      finish_reason: 'end',
    },
  ]);
  expect(open).toMatchObject({ 'gen_ai.tool.call.arguments': '{"path":"a"}', 'gen_ai.tool.call.result': 'crane' });
});
