import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { estimatesBench } from '../../../dev/bench/estimates/estimates-bench.ts';
import { growthErrors } from '../../../dev/bench/estimates/growth-errors.ts';
import { readRecordedCalls } from '../../../dev/bench/estimates/recorded-sessions.ts';
import { estimateTokens, NO_CALIBRATION } from '../../../src/context/log/estimate.ts';
import { median } from '../../../dev/bench/statistics.ts';
import { prose } from '../../context/builders.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-estimates-'));
});

afterAll(async () => rm(directory, { recursive: true }));

const STEPS = 12;
/** What a system prompt and the tools take in every request; the file does not hold them. */
const UNSEEN = 17_000;

/** A session of one read per call by a model that takes 1.3 tokens where the estimate takes one. */
function steps(
  write: (step: { index: number; input: number; path: string; result: string }) => readonly object[],
): object[] {
  let input = UNSEEN;
  return Array.from({ length: STEPS }, (_, index) => {
    const lines = write({ index, input, path: `docs/${index}.md`, result: prose(800 + index * 400, index) });
    input += Math.round((200 + index * 100 + 45) * 1.3);
    return lines;
  }).flat();
}

async function callsOf(name: string, lines: readonly object[]) {
  const file = join(directory, name);
  await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  return (await readRecordedCalls(file)) ?? [];
}

const pi = [
  { type: 'session', version: 3 },
  { type: 'message', message: { role: 'user', content: 'Read them all.' } },
  ...steps(({ index, input, path, result }) => [
    {
      type: 'message',
      message: {
        role: 'assistant',
        model: 'm',
        usage: { input: 10, cacheRead: input - 10, cacheWrite: 0, output: 30 },
        content: [{ type: 'toolCall', id: `c${index}`, name: 'read', arguments: { path } }],
      },
    },
    { type: 'message', message: { role: 'toolResult', content: [{ type: 'text', text: result }] } },
  ]),
];

const claude = [
  { type: 'user', message: { content: 'Read them all.' } },
  ...steps(({ index, input, path, result }) => {
    const message = { id: `m${index}`, model: 'm', usage: { input_tokens: 10, cache_read_input_tokens: input - 10 } };
    return [
      { type: 'assistant', message: { ...message, content: [{ type: 'text', text: 'Next.' }] } },
      { type: 'assistant', message: { ...message, content: [{ type: 'tool_use', name: 'read', input: { path } }] } },
      { type: 'user', message: { content: [{ type: 'tool_result', content: result }] } },
    ];
  }),
];

test.each([
  ['pi', pi],
  ['Claude Code', claude],
])('a session of %s has one call per answer, with what was added since the one before', async (name, lines) => {
  const calls = await callsOf(`${name}.jsonl`, lines);
  expect(calls).toHaveLength(STEPS);
  expect(calls.map((call) => call.begins)).toEqual([true, ...Array.from({ length: STEPS - 1 }, () => false)]);
  expect(calls[0]?.input).toBe(UNSEEN);
  const last = calls.at(-1);
  expect(last === undefined ? 0 : estimateTokens(last.grown, NO_CALIBRATION)).toBeGreaterThan(800);
});

test('R25 growth is estimated within 15 % in the median after three calls, whatever every request holds unseen', async () => {
  const { ratios } = growthErrors(await callsOf('judged.jsonl', pi));
  expect(ratios).toHaveLength(STEPS - 3);
  expect(median(ratios.map((ratio) => Math.abs(ratio - 1)))).toBeLessThan(0.15);
});

test('a file without usage is passed over, and refused when there is no other', async () => {
  await writeFile(join(directory, 'other.jsonl'), JSON.stringify({ role: 'user', content: 'hello' }));
  await writeFile(join(directory, 'pi.jsonl'), pi.map((line) => JSON.stringify(line)).join('\n'));
  const files = ['other.jsonl', 'pi.jsonl'].map((name) => join(directory, name));
  const remarks: string[] = [];
  const printed: string[] = [];
  const output = {
    print: (text: string) => void printed.push(text),
    remark: (text: string) => void remarks.push(text),
  };
  expect(await estimatesBench([...files, '--check'], output)).toBe(0);
  expect(printed.join('\n')).toContain('pi.jsonl');
  expect(remarks[0]).toBe('other.jsonl: passed over, it does not record the tokens of its requests');
  const alone = estimatesBench(files.slice(0, 1), output);
  await expect(alone).rejects.toThrow('none of these files can be judged');
});
