import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { ToolError } from '../../src/tools/errors.ts';
import { runToolCall } from '../../src/tools/runtime/run-tool-call.ts';
import type { ToolContext, ToolDefinition, ToolResult } from '../../src/tools/tool.ts';
import { nestedJson } from '../support/nested.ts';
import { waitUntil } from '../support/wait-until.ts';
import { call, callContext, ENTRY_ID, originalBytes } from './support/tool-context.ts';

/** A tool that does what the test says. */
function toolThat(run: (context: ToolContext) => Promise<ToolResult>, changes: Partial<ToolDefinition> = {}) {
  const tool: ToolDefinition = {
    name: 'probe',
    description: 'A probe.',
    input: z.object({}),
    effect: 'none',
    run: (_, context) => run(context),
    ...changes,
  };
  return defineTool(tool);
}

test('a result comes back as it is', async () => {
  const outcome = await call(
    toolThat(() => Promise.resolve({ content: 'fine' })),
    {},
  );
  expect(outcome).toMatchObject({
    ending: 'succeeded',
    isError: false,
    content: [{ type: 'text', text: 'fine' }],
    original: null,
  });
});

test('an unknown tool is an error result that lists the tools and names the near one', async () => {
  const offered = ['read_file', 'list_files'].map((name) => toolThat(() => Promise.resolve({ content: '' }), { name }));
  const outcome = await runToolCall({
    offered,
    name: 'readFile',
    argumentsText: '{}',
    context: callContext(),
    entryId: ENTRY_ID,
  });
  onTestFinished(() => outcome.dispose());
  const text = 'There is no tool "readFile"; did you mean read_file? The tools are: read_file, list_files.';
  expect(outcome).toMatchObject({ ending: 'unknown_tool', isError: true, content: [{ type: 'text', text }] });
});

test.each([129, 4_000, 100_000])(
  'arguments that are nested %i levels deep are an error result that says so',
  async (depth) => {
    const tool = toolThat(() => Promise.resolve({ content: 'ran' }), { input: z.looseObject({ needed: z.string() }) });
    const outcome = await call(tool, { argumentsText: nestedJson(depth) });
    expect(outcome).toMatchObject({ ending: 'invalid_arguments', isError: true });
    expect(outcome.text).toContain('nested deeper than 128 levels: make the call again with flatter ones.');
  },
);

test('arguments that are nested 128 levels deep reach the tool, and brackets inside of texts are no levels', async () => {
  const tool = toolThat(() => Promise.resolve({ content: 'ran' }), { input: z.looseObject({}) });
  expect(await call(tool, { argumentsText: nestedJson(128) })).toMatchObject({ ending: 'succeeded' });
  const input = { code: `"\\${'['.repeat(4_000)}` };
  expect(await call(tool, { input })).toMatchObject({ ending: 'succeeded' });
});

test('what a tool throws becomes an error result with its message', async () => {
  const foreseen = toolThat(() => Promise.reject(new ToolError('input_refused', 'Say it otherwise.')));
  expect(await call(foreseen, {})).toMatchObject({ ending: 'tool_failed', isError: true, text: 'Say it otherwise.' });
  const unforeseen = toolThat(() => Promise.reject(new TypeError('x is not a function')));
  expect((await call(unforeseen, {})).text).toBe('probe failed: x is not a function');
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors, no-throw-literal -- users do
  const strange = toolThat(() => Promise.reject('just text'));
  expect((await call(strange, {})).text).toBe('probe failed: just text');
  const immediate = toolThat(() => {
    throw new Error('not even a promise');
  });
  expect((await call(immediate, {})).text).toBe('probe failed: not even a promise');
});

test('a tool that returns no tool result gets an error that blames the tool', async () => {
  for (const wrong of [undefined, null, 'text', { content: 5 }, { content: [{ type: 'tool_call' }] }]) {
    const outcome = await call(
      toolThat(() => Promise.resolve(JSON.parse(JSON.stringify(wrong ?? null)))),
      {},
    );
    expect(outcome).toMatchObject({ ending: 'invalid_result', isError: true });
    expect(outcome.text).toContain('This is an error in the tool, not in the call.');
  }
});

test('an empty result says so', async () => {
  expect(
    (
      await call(
        toolThat(() => Promise.resolve({ content: '' })),
        {},
      )
    ).text,
  ).toBe('[no output]');
});

test('images stand after the text', async () => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA', width: 1, height: 1 } as const;
  const outcome = await call(
    toolThat(() => Promise.resolve({ content: [image, { type: 'text', text: 'seen' }] })),
    {},
  );
  expect(outcome.content).toEqual([{ type: 'text', text: 'seen' }, image]);
});

test('a long result is clipped with the way to open the rest, and kept whole', async () => {
  const content = Array.from({ length: 5_000 }, (_, index) => `line ${index} äöü`).join('\n');
  const outcome = await call(
    toolThat(() => Promise.resolve({ content })),
    { context: { resultLimit: 3_000 } },
  );
  expect(outcome.text.length).toBeLessThanOrEqual(3_000);
  expect(outcome.text).toContain(`recall_open {"entry_id": "${ENTRY_ID}"`);
  expect((await originalBytes(outcome)).toString()).toBe(content);
  expect(outcome.original?.totalCharacters).toBe(content.length);
});

test('what a tool wrote stands before what it returned, in shown text and original', async () => {
  const tool = toolThat(async ({ output }) => {
    await output.write('written ');
    await output.write(Buffer.from('bytes'));
    return { content: 'returned' };
  });
  expect((await call(tool, {})).text).toBe('written bytes\nreturned');
  const invalid = toolThat(async ({ output }) => {
    await output.write(Buffer.from([0xff]));
    return { content: '' };
  });
  const outcome = await call(invalid, {});
  expect(outcome.text).toBe('\ufffd');
  expect([...(await originalBytes(outcome))]).toEqual([0xff]);
});

test('what a tool wrote before it failed is kept before the error', async () => {
  const tool = toolThat(async ({ output }) => {
    await output.write('half of it');
    throw new Error('broken');
  });
  expect((await call(tool, {})).text).toBe('half of it\nprobe failed: broken');
});

test('a timeout aborts the signal and says that nothing was undone', async () => {
  let aborted = false;
  const tool = toolThat(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(new Error('aborted'));
        });
      }),
    { timeout: 50 },
  );
  const outcome = await call(tool, {});
  expect(aborted).toBe(true);
  expect(outcome).toMatchObject({ ending: 'timed_out', isError: true });
  expect(outcome.text).toBe(
    'The call was ended after its time limit of 0.05 s. What it had done until then is not undone.',
  );
});

test('a tool that ignores the abort is given up', async () => {
  const stop = new AbortController();
  const tool = toolThat(() => {
    stop.abort();
    return new Promise(() => undefined);
  });
  const running = call(tool, { context: { signal: stop.signal } });
  const outcome = await running;
  expect(outcome).toMatchObject({ ending: 'aborted', isError: true });
  expect(outcome.text).toContain('It did not react, so it may still go on.');
});

test('a call that was stopped before it began does not run', async () => {
  const run = vi.fn(() => Promise.resolve({ content: '' }));
  const outcome = await call(toolThat(run), { context: { signal: AbortSignal.abort() } });
  expect(outcome.ending).toBe('aborted');
  expect(run).not.toHaveBeenCalled();
});

test('a tool that finished although it was stopped keeps its result', async () => {
  const stop = new AbortController();
  const tool = toolThat(() => {
    stop.abort();
    return Promise.resolve({ content: 'done' });
  });
  expect(await call(tool, { context: { signal: stop.signal } })).toMatchObject({ ending: 'succeeded', text: 'done' });
});

test('a write after the call was given up is refused and harms nothing', async () => {
  let late: Promise<void> | null = null;
  const tool = toolThat(
    ({ output, signal }) => {
      signal.addEventListener('abort', () => {
        setTimeout(() => {
          late = output.write('late');
          late.catch(() => undefined);
        }, 1_600);
      });
      return new Promise(() => undefined);
    },
    { timeout: 20 },
  );
  const outcome = await call(tool, {});
  expect(outcome.text).not.toContain('late');
  await waitUntil('it writes', () => late !== null);
  await expect(late).rejects.toThrow('The call is over');
});

test('a picture, a file and a plan that no request could hold are refused in words for the model', async () => {
  const data = 'A'.repeat(50_000_004);
  const picture = { type: 'image', mediaType: 'image/png', data, width: 1, height: 1 } as const;
  const file = { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data, pages: 1 } as const;
  const results: ToolResult[] = [
    { content: [picture] },
    { content: [file] },
    { content: 'fine', plan: 'x'.repeat(60_001) },
  ];
  for (const result of results) {
    const outcome = await call(
      toolThat(() => Promise.resolve(result)),
      {},
    );
    expect(outcome).toMatchObject({ ending: 'invalid_result', isError: true });
    expect(outcome.text).toMatch(/probe ran, but .*: (?:content\.0\.data|plan): Too big/u);
    expect(outcome.text.length).toBeLessThan(500);
  }
});

test('provider keys are masked in texts, errors and plans', async () => {
  const secret = 'sk-planted-0123456789';
  const tool = toolThat(() => Promise.resolve({ content: `a ${secret} b`, plan: `- [ ] use ${secret}` }));
  const outcome = await call(tool, { secrets: [secret] });
  expect(outcome.text).toBe('a [masked key] b');
  expect(outcome.plan).toBe('- [ ] use [masked key]');
  const failing = toolThat(() => Promise.reject(new Error(`no access with ${secret}`)));
  expect((await call(failing, { secrets: [secret] })).text).not.toContain(secret);
});

test('a tool gets its context as it is, with the idempotency key and the attempt', async () => {
  let seen: ToolContext | null = null;
  const tool = toolThat((context) => {
    seen = context;
    return Promise.resolve({ content: '' });
  });
  await call(tool, { context: { idempotencyKey: 'turn:4:1', attempt: 2, resultLimit: 5_000 } });
  expect(seen).toMatchObject({ idempotencyKey: 'turn:4:1', attempt: 2, resultLimit: 5_000 });
});
