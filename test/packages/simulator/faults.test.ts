import { describe, expect, test } from 'vitest';
import { rejection, simulator, type TestSimulator } from './support/simulator.ts';
import { SUMMARIZER, summaryOrder } from './support/summary-prompt.ts';

const hello = { model: 'sim-32k', max_tokens: 500, messages: [{ role: 'user' as const, content: 'Hello there' }] };
const chatHello = { model: 'sim-32k', messages: hello.messages };

function withFault(fault: string | object): { headers: Record<string, string> } {
  return { headers: { 'x-simulator-fault': typeof fault === 'string' ? fault : JSON.stringify(fault) } };
}

async function summaryWith({ anthropic }: TestSimulator, kind: string) {
  const content = summaryOrder({ messages: hello.messages });
  return anthropic.messages.create(
    { ...hello, system: SUMMARIZER, messages: [{ role: 'user', content }] },
    withFault(kind),
  );
}

describe('summaries', () => {
  test('empty, cut off, too long, a tool call, without sections', async () => {
    const sim = await simulator();
    expect((await summaryWith(sim, 'summary_empty')).content).toEqual([]);
    expect((await summaryWith(sim, 'summary_cut_off')).stop_reason).toBe('max_tokens');
    expect((await summaryWith(sim, 'summary_too_long')).usage.output_tokens).toBeGreaterThan(450);
    expect((await summaryWith(sim, 'summary_tool_call')).stop_reason).toBe('tool_use');
    const flat = (await summaryWith(sim, 'summary_without_sections')).content[0];
    expect(flat?.type === 'text' ? flat.text : '##').not.toContain('##');
  });

  test('a fault of summaries passes other requests by', async () => {
    const sim = await simulator();
    await sim.control('POST', '/faults', { kind: 'summary_empty' });
    expect((await sim.anthropic.messages.create(hello)).content).toHaveLength(1);
    const content = summaryOrder({ messages: hello.messages });
    const order = { ...hello, system: SUMMARIZER, messages: [{ role: 'user' as const, content }] };
    expect((await sim.anthropic.messages.create(order)).content).toHaveLength(0);
    expect((await sim.anthropic.messages.create(order)).content).toHaveLength(1);
  });
});

describe('the control endpoint', () => {
  test('arms faults for some requests, after some, so many times', async () => {
    const { anthropic, control } = await simulator();
    const outcome = (model = 'sim-32k', content = 'Hello') =>
      anthropic.messages.create({ ...hello, model, messages: [{ role: 'user', content }] }).then(
        () => 'ok',
        () => 'failed',
      );
    await control('POST', '/faults', {
      kind: 'server_error',
      times: 2,
      skip: 1,
      match: { model: 'sim-8k', containing: 'a "secret"' },
    });
    expect(await outcome()).toBe('ok');
    expect(await outcome('sim-8k')).toBe('ok');
    const rounds = [];
    for (const _ of [1, 2, 3, 4]) rounds.push(await outcome('sim-8k', 'a "secret" word'));
    expect(rounds).toEqual(['ok', 'failed', 'failed', 'ok']);
    await control('POST', '/faults', { kind: 'server_error', times: null });
    expect(await outcome()).toBe('failed');
    expect((await control('GET', '/faults')).body['faults']).toHaveLength(1);
    expect((await control('DELETE', '/faults')).body).toEqual({ removed: 1 });
    expect(await outcome()).toBe('ok');
    expect((await control('DELETE', '/faults/fault-99')).status).toBe(404);
  });

  test('holds answers until its fault is deleted', async () => {
    const { anthropic, openai, control } = await simulator();
    const { body } = await control('POST', '/faults', { kind: 'hold', match: { model: 'sim-32k' } });
    const answered: string[] = [];
    const held = [anthropic.messages.create(hello), openai.chat.completions.create(chatHello)].map(async (answer) =>
      answer.then(() => answered.push('held')),
    );
    await anthropic.messages.create({ ...hello, model: 'sim-8k' });
    await expect.poll(async () => (await control('GET', '/requests')).body['total']).toBe(3);
    expect(answered).toEqual([]);
    await control('DELETE', `/faults/${String(body['id'])}`);
    await Promise.all(held);
    expect(answered).toEqual(['held', 'held']);
  });

  test('counts requests and shows what was sent', async () => {
    const { anthropic, openai, control } = await simulator();
    await anthropic.messages.create(hello);
    await rejection(openai.chat.completions.create(chatHello, withFault('overflow')));
    const { body } = await control('GET', '/requests?last=2');
    expect(body).toMatchObject({ total: 2, agent: 2, summary: 0, answered: 1, refused: 1, overflows: 1 });
    expect(body['requests']).toMatchObject([
      { protocol: 'anthropic', status: 200, body: { messages: hello.messages } },
      { protocol: 'chat', status: 400, fault: 'overflow', window: 32_768 },
    ]);
    await control('DELETE', '/requests');
    expect((await control('GET', '/requests')).body).toMatchObject({ total: 0, requests: [] });
    expect((await control('GET', '/requests?last=x')).status).toBe(400);
  });
});
