import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { measurePrompt, PrefixCache } from '../../../packages/simulator/src/core/prefix-cache.ts';
import { TokenCounter } from '../../../packages/simulator/src/core/token-counter.ts';
import { parseAnthropicRequest } from '../../../packages/simulator/src/protocols/anthropic-request.ts';
import { simulator, words } from './support/simulator.ts';

describe('usage of the prefix cache', () => {
  const long = words(1500);

  function conversation(turns: number): Anthropic.MessageParam[] {
    return Array.from({ length: turns }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `${index} ${words(50)}`,
    }));
  }

  test('Anthropic: nothing without a mark, a write at the first mark, a read of it later', async () => {
    const { anthropic } = await simulator();
    const unmarked = { model: 'sim-200k', max_tokens: 50, system: long, messages: conversation(1) };
    for (const _ of [1, 2])
      expect((await anthropic.messages.create(unmarked)).usage).toMatchObject({
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      });
    const marked = (turns: number): Anthropic.MessageCreateParamsNonStreaming => ({
      ...unmarked,
      system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }],
      messages: conversation(turns),
    });
    const first = (await anthropic.messages.create(marked(1))).usage;
    expect(first.cache_read_input_tokens).toBe(0);
    expect(first.cache_creation_input_tokens).toBeGreaterThan(2500);
    const second = (await anthropic.messages.create(marked(3))).usage;
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.cache_creation_input_tokens).toBe(0);
    expect(second.input_tokens).toBeGreaterThan(first.input_tokens);
  });

  test('Anthropic: a moved mark reads up to the old one and writes the rest; a change before it reads nothing', async () => {
    const { anthropic } = await simulator();
    const create = (turns: number, system = long) =>
      anthropic.messages.create({
        model: 'sim-200k',
        max_tokens: 50,
        system,
        messages: conversation(turns),
        cache_control: { type: 'ephemeral' },
      });
    const first = (await create(1)).usage;
    const second = (await create(3)).usage;
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    expect(second.cache_creation_input_tokens).toBeGreaterThan(100);
    expect((await create(5, `Other. ${long}`)).usage.cache_read_input_tokens).toBe(0);
  });

  test('Anthropic: nothing is cached below 1,024 tokens, and 20 blocks back is the end of the search', async () => {
    const { anthropic } = await simulator();
    const create = (turns: number, system: string) =>
      anthropic.messages.create({
        model: 'sim-200k',
        max_tokens: 50,
        system,
        messages: conversation(turns),
        cache_control: { type: 'ephemeral' },
      });
    for (const _ of [1, 2])
      expect((await create(1, 'short')).usage).toMatchObject({
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      });
    await create(1, long);
    expect((await create(21, long)).usage.cache_read_input_tokens).toBeGreaterThan(0);
    await create(1, `again ${long}`);
    expect((await create(23, `again ${long}`)).usage.cache_read_input_tokens).toBe(0);
  });

  test('the five minutes pass, and writes of an hour are told apart', () => {
    let now = 0;
    const cache = new PrefixCache(() => now);
    const counter = new TokenCounter();
    const use = (ttl: '5m' | '1h') => {
      const body = {
        model: 'sim-200k',
        max_tokens: 9,
        system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral', ttl } }],
        messages: conversation(1),
      };
      const request = parseAnthropicRequest(body, 'answer');
      return cache.use(request, measurePrompt(request, counter));
    };
    const written = use('5m').cacheWrite5m;
    expect(written).toBeGreaterThan(1024);
    now = 200_000;
    expect(use('5m').cacheRead).toBe(written);
    now = 499_000;
    expect(use('5m').cacheRead).toBe(written);
    now = 900_000;
    expect(use('1h')).toMatchObject({ cacheRead: 0, cacheWrite1h: written, cacheWrite5m: 0 });
    now = 4_400_000;
    expect(use('5m').cacheRead).toBe(written);
  });

  test('OpenAI: every prefix from 1,024 tokens on, in steps of 128', async () => {
    const { openai } = await simulator();
    const create = (last: string) =>
      openai.chat.completions.create({
        model: 'sim-200k',
        messages: [
          { role: 'system', content: long },
          { role: 'user', content: last },
        ],
      });
    expect((await create('a')).usage?.prompt_tokens_details).toMatchObject({ cached_tokens: 0 });
    const cached = (await create('b')).usage?.prompt_tokens_details?.cached_tokens ?? 0;
    expect(cached).toBeGreaterThan(2500);
    expect(cached % 128).toBe(0);
    const response = await openai.responses.create({ model: 'sim-8k', instructions: 'short', input: 'a' });
    expect(response.usage?.input_tokens_details.cached_tokens).toBe(0);
  });
});
