import { expect, test } from 'vitest';
import { runInProcess } from '../run-in-process.ts';

const TOO_LONG = { error: { message: 'prompt of 9,310 tokens exceeds the context of 8,192' } };

test('tells kind, repair, figures and the rule of an error body on standard input', async () => {
  const result = await runInProcess(['model', 'explain-error', '--status', '400'], { input: JSON.stringify(TOO_LONG) });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(result.stdout).toMatch(/^Kind +overflow$/m);
  expect(result.stdout).toMatch(/^Repair +compact: /m);
  expect(result.stdout).toMatch(/^Counted +9,310 tokens$/m);
  expect(result.stdout).toMatch(/^Limit +8,192 tokens$/m);
  expect(result.stdout).toMatch(/^Because +\S/m);
});

test('an empty body is read by its status', async () => {
  const result = await runInProcess(['model', 'explain-error', '--status', '413', '--json'], { input: '' });
  expect(JSON.parse(result.stdout)).toMatchObject({ kind: 'payload_too_large', repair: 'drop_media', limit: null });
});

test('without a body and a status there is nothing to explain, and no status is not written as one', async () => {
  const nothing = await runInProcess(['model', 'explain-error'], { input: '\n' });
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('Standard input is empty') });
  const odd = await runInProcess(['model', 'explain-error'], { input: 'bad luck' });
  expect(odd.stdout).toMatch(/^Because +unrecognised, without an HTTP status$/mu);
});

test('--tokens and --window tell how full the request was', async () => {
  const asked = ['model', 'explain-error', '--status', '400', '--json', '--window', '200000'];
  const full = await runInProcess([...asked, '--tokens', '195000'], { input: 'bad request' });
  expect(JSON.parse(full.stdout)).toMatchObject({ kind: 'overflow', repair: 'compact' });
  const small = await runInProcess([...asked, '--tokens', '19500'], { input: 'bad request' });
  expect(JSON.parse(small.stdout)).toMatchObject({ kind: 'invalid_request', repair: 'stop' });
  const half = await runInProcess(['model', 'explain-error', '--window', '200000'], { input: 'bad request' });
  expect(half).toMatchObject({ code: 2, stderr: expect.stringContaining('--tokens and --window belong together') });
});

test('--jsonl writes one verdict for each case and reads what a case leaves out as absent', async () => {
  const cases = [
    { provider: 'a', status: 400, body: TOO_LONG },
    { provider: 'b', status: null, message: 'prompt of 9,310 tokens exceeds the context of 8,192' },
    { status: '429', headers: { 'Retry-After': 3 }, body: '' },
    {},
    { status: 400, body: 'bad request', tokens: 195_000, window: 200_000 },
    { provider: 'c', answer: { stopReason: 'end', usage: { input: 9_310 }, window: 8_192, estimatedInput: 9_000 } },
    { answer: { stopReason: 'end', usage: { input: 800 }, window: 8_192, estimatedInput: 900 } },
  ];
  const input = `${cases.map((each) => JSON.stringify(each)).join('\r\n')}\n\n`;
  const result = await runInProcess(['model', 'explain-error', '--jsonl'], { input });
  const lines = result.stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { kind: 'overflow', repair: 'compact', actual: 9_310, limit: 8_192, evidence: expect.any(String) },
    { kind: 'overflow', repair: 'compact', actual: 9_310, limit: 8_192, evidence: expect.any(String) },
    { kind: 'rate_limit', repair: 'wait', actual: null, limit: null, evidence: 'a retry hint' },
    { kind: 'unknown', repair: 'stop', actual: null, limit: null, evidence: expect.any(String) },
    { kind: 'overflow', repair: 'compact', actual: null, limit: null, evidence: expect.stringContaining('98 %') },
    {
      kind: 'overflow',
      repair: 'compact',
      actual: 9_310,
      limit: 8_192,
      evidence: expect.stringContaining('c reported'),
    },
    { kind: 'none', repair: 'none', actual: null, limit: null, evidence: expect.any(String) },
  ]);
});

test('--jsonl answers each of 1,000 lines, also those that cannot be read, and then tells which those were', async () => {
  const hardest = [
    'nonsense',
    '["prompt is too long"]',
    '{"answer": {"usage": 3}}',
    '{"answer": {"stopReason": "model_context_window_exceeded"}}',
    '{"provider": {"a": 1}, "status": {"toString": 1}, "headers": {"a": {"toString": 1}}, "message": 4}',
    `{"body": ${JSON.stringify(`<html>${'<p>Error'.repeat(200)}</html>`)}}`,
    `{"body": ${'['.repeat(500)}${']'.repeat(500)}}`,
    '{"provider": "nobody knows", "status": 99999, "body": null}',
  ];
  const lines = Array.from({ length: 1_000 }, (_, index) => hardest[index % hardest.length] ?? '');
  const result = await runInProcess(['model', 'explain-error', '--jsonl'], { input: lines.join('\n') });
  const verdicts = result.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; line?: number });
  expect(verdicts).toHaveLength(1_000);
  expect(verdicts.slice(0, 4)).toMatchObject([
    { kind: 'unreadable', line: 1, evidence: 'the line is no JSON object' },
    { kind: 'unreadable', line: 2 },
    { kind: 'unreadable', line: 3, evidence: '"answer.stopReason" is wrong or missing' },
    { kind: 'overflow', repair: 'compact' },
  ]);
  expect(verdicts.filter(({ kind }) => kind === 'unreadable')).toHaveLength(375);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('375 lines could not be read: 1, 2, 3, 9,');
  expect(result.stderr).toContain('The other 625 lines were answered.');
  const alone = await runInProcess(['model', 'explain-error', '--jsonl'], { input: 'nonsense\n' });
  expect(alone.stderr).toContain('1 line could not be read: 1.');
  expect(alone.stderr).not.toContain('answered');
});
