import { expect, test } from 'vitest';
import { runCli } from './run-cli.ts';

const TOO_LONG = { error: { message: 'prompt of 9,310 tokens exceeds the context of 8,192' } };

test('tells kind, repair, figures and the rule of an error body on standard input', async () => {
  const result = await runCli(['explain-error', '--status', '400'], { input: JSON.stringify(TOO_LONG) });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(result.stdout).toMatch(/^Kind +overflow$/m);
  expect(result.stdout).toMatch(/^Repair +compact: /m);
  expect(result.stdout).toMatch(/^Counted +9,310 tokens$/m);
  expect(result.stdout).toMatch(/^Limit +8,192 tokens$/m);
  expect(result.stdout).toMatch(/^Because +\S/m);
});

test('an empty body is read by its status', async () => {
  const result = await runCli(['explain-error', '--status', '413', '--json'], { input: '' });
  expect(JSON.parse(result.stdout)).toMatchObject({ kind: 'payload_too_large', repair: 'drop_media', limit: null });
});

test('--jsonl writes one verdict for each case and reads what a case leaves out as absent', async () => {
  const cases = [
    { provider: 'a', status: 400, body: TOO_LONG },
    { provider: 'b', status: null, message: 'prompt of 9,310 tokens exceeds the context of 8,192' },
    { status: '429', headers: { 'Retry-After': 3 }, body: '' },
    {},
    { provider: 'c', answer: { stopReason: 'end', usage: { input: 9_310 }, window: 8_192, estimatedInput: 9_000 } },
    { answer: { stopReason: 'end', usage: { input: 800 }, window: 8_192, estimatedInput: 900 } },
  ];
  const input = `${cases.map((each) => JSON.stringify(each)).join('\r\n')}\n\n`;
  const result = await runCli(['explain-error', '--jsonl'], { input });
  const lines = result.stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { kind: 'overflow', repair: 'compact', actual: 9_310, limit: 8_192, evidence: expect.any(String) },
    { kind: 'overflow', repair: 'compact', actual: 9_310, limit: 8_192, evidence: expect.any(String) },
    { kind: 'rate_limit', repair: 'wait', actual: null, limit: null, evidence: 'HTTP 429' },
    { kind: 'unknown', repair: 'stop', actual: null, limit: null, evidence: expect.any(String) },
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

test('--jsonl names the line that is no case', async () => {
  const result = await runCli(['explain-error', '--jsonl'], { input: '{"status": 400}\nnonsense\n' });
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('Line 2 is no JSON object.');
});
