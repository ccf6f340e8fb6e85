import { describe, expect, test } from 'vitest';
import { serveSimulator, startSimulator } from '../../../packages/simulator/src/index.ts';
import { simulator, type TestSimulator } from './support/simulator.ts';

async function answers(sim: TestSimulator, count: number, content = 'Hello there'): Promise<string[]> {
  const texts = [];
  for (let index = 0; index < count; index += 1) {
    const message = await sim.anthropic.messages.create({
      model: 'sim-32k',
      max_tokens: 200,
      tools: [{ name: 'echo', input_schema: { type: 'object' } }],
      messages: [{ role: 'user', content }],
    });
    texts.push(JSON.stringify(message.content));
  }
  return texts;
}

describe('wording and ids', () => {
  test('differ between calls of the same request', async () => {
    const sim = await simulator();
    expect(new Set(await answers(sim, 8)).size).toBeGreaterThan(1);
    const ids = (await answers(sim, 5, 'Call echo with {}')).map((text) => /toolu_\w+/.exec(text)?.[0]);
    expect(new Set(ids).size).toBe(5);
  });

  test('are the same for the same seed, whatever else is asked in between', async () => {
    const [first, second, other] = [
      await simulator({ seed: 7 }),
      await simulator({ seed: 7 }),
      await simulator({ seed: 8 }),
    ];
    const expected = await answers(first, 4, 'Call echo with {}');
    const [one] = await answers(second, 1, 'Call echo with {}');
    await answers(second, 3, 'Something else');
    expect([one, ...(await answers(second, 3, 'Call echo with {}'))]).toEqual(expected);
    expect(await answers(other, 4, 'Call echo with {}')).not.toEqual(expected);
  });

  test('nothing of one conversation is known in another', async () => {
    const sim = await simulator();
    await answers(sim, 1, 'The secret word is Xylophone.');
    expect((await answers(sim, 1, 'What is the secret word?'))[0]).not.toContain('Xylophone');
  });
});

describe('orders', () => {
  test('whose arguments are no JSON are answered with how to write them', async () => {
    const [said] = await answers(await simulator(), 1, 'Call echo with {path: 5}');
    expect(said).toContain('double quotes');
  });

  test('are told as done without a number, where results have left the context', async () => {
    const { anthropic } = await simulator();
    const order = 'Call echo with {"text": "$index"} 3 times, one by one';
    const answer = await anthropic.messages.create({
      model: 'sim-32k',
      max_tokens: 200,
      tools: [{ name: 'echo', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: order },
        { role: 'user', content: `[Summary]\n## Task\n- ${order} → in progress\n## State\n- Step 3 of 3 was reached.` },
      ],
    });
    expect(JSON.stringify(answer.content)).toContain('Done.');
  });
});

describe('starting', () => {
  test('refuses options out of range and a port that is taken', async () => {
    await expect(startSimulator({ port: 70_000 })).rejects.toThrow('port must be');
    await expect(startSimulator({ latency: -1 })).rejects.toThrow('latency');
    const { port } = await simulator();
    await expect(startSimulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('serves until it is told to stop, and leaves nothing open', async () => {
    const stop = new AbortController();
    const serving = serveSimulator(
      {},
      { signal: stop.signal, onListening: (listening) => void answerAndStop(listening.url) },
    );
    let banner = '';
    const answerAndStop = async (url: string): Promise<void> => {
      banner = await (await fetch(url)).text();
      stop.abort();
    };
    await serving;
    expect(banner).toContain('Holdfast simulator');
  });

  test('unknown paths and broken JSON get an answer of the vendor', async () => {
    const { url } = await simulator();
    expect((await fetch(`${url}/v1/nothing`)).status).toBe(404);
    const broken = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{' });
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });
});
