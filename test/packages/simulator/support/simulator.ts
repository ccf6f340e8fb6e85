import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../../packages/simulator/src/index.ts';

/** A simulator with both vendors' clients, closed when the test ends. */
export interface TestSimulator extends Simulator {
  readonly anthropic: Anthropic;
  readonly openai: OpenAI;
  /** Sends JSON to a control path and returns the JSON of the answer. */
  readonly control: (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<ControlAnswer>;
}

export interface ControlAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export async function simulator(options: SimulatorOptions = {}): Promise<TestSimulator> {
  const running = await startSimulator(options);
  onTestFinished(() => running.close());
  return {
    ...running,
    anthropic: new Anthropic({ baseURL: running.url, apiKey: 'any', maxRetries: 0 }),
    openai: new OpenAI({ baseURL: `${running.url}/v1`, apiKey: 'any', maxRetries: 0 }),
    control: async (method, path, body) => {
      const response = await fetch(`${running.url}/control${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
    },
  };
}

/** The error that a promise is rejected with. */
export async function rejection(promise: PromiseLike<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('the promise was not rejected');
}

/** Words that are about one token each. */
export function words(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${index % 10}`).join(' ');
}
