import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { measurePrompt } from '../../../packages/simulator/src/core/prefix-cache.ts';
import { countUncached, TokenCounter } from '../../../packages/simulator/src/core/token-counter.ts';
import { parseChatRequest } from '../../../packages/simulator/src/protocols/chat-request.ts';

const source = readFileSync(new URL('../../../packages/simulator/README.md', import.meta.url), 'utf8').repeat(10);

describe('token counts', () => {
  test('agree with the tokenizer within half a percent', () => {
    const exact = countTokens(source);
    expect(Math.abs(countUncached(source) - exact)).toBeLessThan(exact * 0.005);
    expect(countUncached('one short text')).toBe(countTokens('one short text'));
  });

  test('take special tokens, lone surrogates and NUL for text', () => {
    expect(countUncached('<|endoftext|>')).toBeGreaterThan(1);
    expect(countUncached('a\ud800b\u0000')).toBeGreaterThan(1);
    expect(countUncached('')).toBe(0);
  });

  test('a request of 200,000 tokens is not tokenized again once its parts were seen', () => {
    const messages = Array.from({ length: 400 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index} ${source.slice(index * 50, index * 50 + 2600)}`,
    }));
    const body = JSON.stringify({ model: 'sim-1000k', messages });
    let tokenized = 0;
    const counter = new TokenCounter((text) => {
      tokenized += text.length;
      return countUncached(text);
    });
    const measured = () => measurePrompt(parseChatRequest(JSON.parse(body)), counter).at(-1)?.tokens ?? 0;
    expect(measured()).toBeGreaterThan(190_000);
    expect(tokenized).toBeGreaterThan(400 * 2600);
    tokenized = 0;
    expect(measured()).toBeGreaterThan(190_000);
    expect(tokenized).toBe(0);
  });
});
