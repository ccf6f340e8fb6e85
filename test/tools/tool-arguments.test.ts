import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { editFile } from '../../src/tools/builtin/edit-file.ts';
import { parseToolArguments } from '../../src/tools/runtime/tool-input.ts';
import { updatePlan } from '../../src/tools/builtin/conversation-tools.ts';

const tool = defineTool({
  name: 'probe',
  description: 'A probe.',
  input: z.strictObject({
    path: z.string(),
    limit: z.number().int().min(1).optional(),
    nested: z.strictObject({ mode: z.enum(['fast', 'slow']), note: z.string().optional() }).optional(),
    upper: z
      .string()
      .transform((text) => text.toUpperCase())
      .optional(),
  }),
  effect: 'none',
  run: () => Promise.resolve({ content: '' }),
});

async function problem(text: string): Promise<string> {
  const parsed = await parseToolArguments(tool, text);
  if (parsed.ok) throw new Error('the arguments were accepted');
  expect(parsed.message).toMatch(/^The call of probe was not run, because its arguments are wrong: /);
  return parsed.message;
}

test('right arguments are read, transforms applied once', async () => {
  expect(await parseToolArguments(tool, '{"path": "a", "upper": "x"}')).toEqual({
    ok: true,
    input: { path: 'a', upper: 'X' },
  });
});

test('no arguments at all count as none, null for an optional one as absent', async () => {
  expect(await parseToolArguments(updatePlan, '{"items": []}')).toMatchObject({ ok: true });
  expect(
    await parseToolArguments(tool, '{"path": "a", "limit": null, "nested": {"mode": "fast", "note": null}}'),
  ).toEqual({
    ok: true,
    input: { path: 'a', nested: { mode: 'fast' } },
  });
  expect(await problem('')).toContain('expected string, received undefined\n  → at path\n');
});

test('cut-off JSON says how far it came and what to do', async () => {
  expect(await problem('{"path": "a", "content": "half of')).toContain('the JSON is cut off after 33 characters');
  expect(await problem('{"path": "a"')).toContain('cut off after 12 characters');
});

test('malformed JSON names the place', async () => {
  expect(await problem('{"path": "a", limit: 3}')).toMatch(/not valid JSON: .*position 14/);
  expect(await problem('path=a')).toContain('not valid JSON');
});

test('what is no object is named as what it is', async () => {
  expect(await problem('[1]')).toContain('must be one JSON object, not a list');
  expect(await problem('null')).toContain('not null');
  expect(await problem('"{}"')).toContain('not a string');
});

test('each wrong property is named with what is expected and what came', async () => {
  const message = await problem('{"path": 5, "limit": 0, "nested": {"mode": "quick"}}');
  expect(message).toContain('Invalid input: expected string, received number\n  → at path\n');
  expect(message).toContain('\n  → at limit\n');
  expect(message).toContain('Invalid option: expected one of "fast"|"slow"\n  → at nested.mode\n');
  expect(message).toContain('Its arguments: {"path":{"type":"string"}');
});

test('an unknown property is named beside those that there are', async () => {
  expect(await problem('{"path": "a", "colour": 1}')).toMatch(/Unrecognized key: "colour"\n Its arguments: \{"path":/);
  const parsed = await parseToolArguments(editFile, '{"path":"a","oldText":"x","new_text":"y"}');
  expect(parsed).toMatchObject({ ok: false, message: expect.stringMatching(/"oldText".*"old_text":/s) });
});

test('a message stays short whatever came', async () => {
  const many = JSON.stringify(
    Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 'x'.repeat(1_000)])),
  );
  expect(
    (await problem(`{"path": ${JSON.stringify('x').repeat(1)}, "limit": "${'y'.repeat(5_000)}"}`)).length,
  ).toBeLessThan(1_500);
  expect((await problem(many)).length).toBeLessThan(60_000);
});

test('a check of the tool itself that throws makes the call one that was not run', async () => {
  const throwing = { ...tool, input: z.object({}).refine(() => Promise.reject(new Error('out of reach'))) };
  expect(await parseToolArguments(throwing, '{}')).toMatchObject({
    ok: false,
    message: expect.stringContaining('out of reach') as string,
  });
});
