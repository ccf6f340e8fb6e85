import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkServer } from '../../src/models/conformance/check-server.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { startLlamaServer } from './llama-server.ts';
import type { LlamaServer } from './llama-server.ts';

/** Tokens that the server accepts; what is over it is refused before it is read, so small is cheap. */
const WINDOW = 2_048;
/** What Holdfast is told, so that the server is the one to find an input too long. */
const DECLARED_WINDOW = 16_384;
const MODEL = 'smollm2-135m';

let server: LlamaServer;
let harness: TurnHarness;

const measure = defineTool({
  name: 'measure',
  description: 'Reads the log of a pump.',
  input: z.object({ pump: z.string().describe('Name of the pump.') }),
  effect: 'none',
  run: async () => ({ content: logOf(220) }),
});

/** About ten tokens a line. */
function logOf(lines: number): string {
  return Array.from({ length: lines }, (_, index) => `line ${index}: the valve opens at ${index * 3} bar`).join('\n');
}

beforeAll(async () => {
  server = await startLlamaServer(WINDOW);
});
afterAll(() => server.stop());

describe.each(['chat', 'anthropic', 'responses'] as const)('conformance of %s', (protocol) => {
  test('what an agent needs works, and what this model lacks is told', async () => {
    const report = await checkServer({
      provider: { name: 'llama', protocol, baseUrl: `${server.url}/v1`, apiKey: null },
      model: MODEL,
      cacheTokens: 200,
      seconds: 170,
    });
    expect(Object.fromEntries(report.findings.map(({ capability, status }) => [capability, status]))).toEqual({
      streaming: 'works',
      usage: 'works',
      cut_answer: 'works',
      tool_calls: 'works',
      parallel_calls: 'limited',
      thinking: 'missing',
      overflow_shape: 'works',
      images: 'missing',
      cache_usage: 'works',
    });
  });
});

describe('turns', () => {
  beforeAll(async () => {
    harness = await startTurnHarness({
      agent: { model: `llama/${MODEL}`, instructions: 'You look after pumps.', tools: ['measure'] },
      tools: [measure],
      configurationFile: [
        'providers:',
        `  llama: { protocol: chat, baseUrl: "${server.url}/v1" }`,
        'models:',
        `  llama/${MODEL}: { window: ${DECLARED_WINDOW}, maximumOutput: 256 }`,
        // The server serves one model under every name; what is learned of a window belongs to the name.
        `  llama/other-name: { window: ${DECLARED_WINDOW}, maximumOutput: 256 }`,
        'agents:',
        `  verbose: { model: llama/other-name, tools: [], instructions: ${JSON.stringify(logOf(300))} }`,
      ].join('\n'),
    });
    await harness.startWorker();
  });
  afterAll(() => harness.stop());

  test('R2 a turn with a tool call overflows the real window, is compacted once, and ends with an answer', async () => {
    const turn = await harness.runTask('What does the log of pump 7 say?', { timeoutMilliseconds: 170_000 });
    expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 1 });
    const [pass] = await harness.client.log.summaries({ conversationId: turn.conversationId });
    expect(pass?.trigger).toBe('overflow');
    const [learned] = await harness.client.models.listLearnedWindows({ days: 1 });
    expect(learned).toMatchObject({ model: `llama/${MODEL}`, tokens: WINDOW });
  });

  test('R2 instructions larger than the real window cannot be compacted: the turn ends and says what fills it', async () => {
    const sent = await harness.client.start('Is the valve open?', { agent: 'verbose' });
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 170_000 });
    expect(turn).toMatchObject({ outcome: 'context_exhausted', overflows: 1, compactions: 0 });
  });
});
