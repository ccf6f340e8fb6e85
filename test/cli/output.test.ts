import { afterEach, beforeEach, expect, test } from 'vitest';
import { openOutput } from '../../src/cli/output.ts';
import { COLOR_STYLE, PLAIN_STYLE } from '../../src/cli/render/text/style.ts';
import { runInProcess } from './run-in-process.ts';

const before = Object.getOwnPropertyDescriptors(process.stdout);
const terminal = process.env['TERM'];

beforeEach(() => {
  Object.assign(process.stdout, { isTTY: true, columns: 40, rows: 10, hasColors: () => true });
  process.env['TERM'] = 'xterm';
});

afterEach(() => {
  for (const name of ['isTTY', 'columns', 'rows', 'hasColors'] as const) {
    Reflect.deleteProperty(process.stdout, name);
    if (before[name] !== undefined) Object.defineProperty(process.stdout, name, before[name]);
  }
  if (terminal === undefined) delete process.env['TERM'];
  else process.env['TERM'] = terminal;
});

test('a terminal has colours and is painted over, unless it is dumb or plain lines are asked for', () => {
  expect(openOutput()).toMatchObject({ columns: 40, rows: 10, repaints: true, style: COLOR_STYLE });
  expect(openOutput({ plain: true })).toMatchObject({ columns: null, rows: 10, repaints: false, style: PLAIN_STYLE });
  process.env['TERM'] = 'dumb';
  expect(openOutput()).toMatchObject({ columns: 40, repaints: false });
});

test('a command sets its output off in a terminal, and in no pipe', async () => {
  const listed = async () => (await runInProcess(['model', 'list'])).stdout;
  expect(await listed()).toContain('\u001B[2mmodel');
  process.stdout.isTTY = false;
  expect(await listed()).not.toContain('\u001B');
});
