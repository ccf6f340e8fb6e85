import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { runInProcess } from './run-in-process.ts';
import { createProgram } from '../../src/cli/main.ts';
import { describeError, errorLines } from '../../src/cli/describe-error.ts';
import { HoldfastClientError } from '../../src/client/errors.ts';
import { ConfigurationError } from '../../src/config/errors.ts';
import { StackError } from '../../src/local/stack-error.ts';
import { StoreError } from '../../src/store/database/errors.ts';

function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  return help;
}

async function errorOf(...args: readonly string[]): Promise<string> {
  try {
    await (await createProgram(['node', 'holdfast', ...args])).parseAsync(['node', 'holdfast', ...args]);
  } catch (error) {
    return errorLines(describeError(error)).join('\n');
  }
  throw new Error('the command line was accepted');
}

const program = await createProgram('all');
const commands = program.commands.flatMap((command) => (command.commands.length === 0 ? [command] : command.commands));

describe('help', () => {
  test('lists every command that the product has', () => {
    const help = helpOf(program);
    for (const command of program.commands) {
      expect(help).toMatch(new RegExp(`^  ${command.name()} `, 'mu'));
      expect(command.summary()).not.toBe('');
    }
    expect(help).toContain('Exit codes:');
  });

  test.each(commands.map((command) => [`${command.parent?.name()} ${command.name()}`, command] as const))(
    '%s has an example and --json',
    (_name, command) => {
      const help = helpOf(command);
      expect(help).toMatch(/Examples?:\n +.*npx holdfast/u);
      expect(help).toContain('--json');
    },
  );
});

describe('a wrong command line', () => {
  test.each([
    [['strat', 'x'], "error (usage): unknown command 'strat'", 'Did you mean start?'],
    [['start', 'x', '--jsno'], "error (usage): unknown option '--jsno'", 'Did you mean --json?'],
    [['start'], "error (usage): missing required argument 'task'", 'Usage: npx holdfast start [options] <task>. '],
    [['start', ''], 'error (usage): The task is empty', 'in quotes'],
    [
      ['branch', 'fork', 'last', '--at', 'nothing'],
      'error (usage): "nothing" is no number and no id of an entry',
      'or `start`',
    ],
    [['list', '--limit', '0'], 'whole number from 1 to 500', '--help'],
    [['list', '--limit', 'many'], 'whole number from 1 to 500', '--help'],
    [['start', 'x', '--workspace', '/no/such/folder'], '/no/such/folder is no folder', '--help'],
    [['show', 'last', 'more'], 'too many arguments', '--help'],
    [['simulator', '--tokens-per-second', '-1'], 'a number of 0 or more', '--help'],
  ])('%j says what is wrong and what to type', async (args, message, next) => {
    const text = await errorOf(...args);
    expect(text).toContain(message);
    expect(text.split('\n').at(-1)).toMatch(/^next: /u);
    expect(text).toContain(next);
  });
});

describe('errors in words', () => {
  test.each([
    [new HoldfastClientError('conversation_not_found', 'no "x"'), 'usage', 'holdfast list'],
    [new HoldfastClientError('database_unreachable', 'gone'), 'unreachable', 'holdfast dev'],
    [new StoreError('database_behind', 'behind'), 'unreachable', 'holdfast db migrate'],
    [
      new HoldfastClientError('database_schema', 'behind', { cause: new StoreError('database_differs', 'newer') }),
      'unreachable',
      'newer one',
    ],
    [
      new ConfigurationError('configuration_invalid', 'holdfast.yaml:3:1: agents.x is unknown'),
      'usage',
      'holdfast.yaml',
    ],
    [
      new StackError('stack_not_started', 'No database is known.', 'Run `npx holdfast dev`.'),
      'unreachable',
      'npx holdfast dev',
    ],
    [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'unreachable', 'holdfast dev'],
    [Object.assign(new Error('14 UNAVAILABLE'), { code: 14 }), 'unreachable', 'holdfast dev'],
    [new TypeError('x is not a function'), 'internal', 'HOLDFAST_DEBUG=1'],
    [
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' }),
      'unreachable',
      'Make room',
    ],
    ['thrown text', 'internal', 'HOLDFAST_DEBUG=1'],
  ])('%s', (error, exit, next) => {
    const described = describeError(error);
    expect(described.exit).toBe(exit);
    expect(described.next).toContain(next);
    expect(described.code).not.toBe('');
  });

  test('the fix of a stack error is the next step, not said twice, and no row ends inside a command', () => {
    const error = new StackError('stack_not_started', 'No database is known.', 'Run `npx holdfast dev`.');
    expect(errorLines(describeError(error))).toEqual([
      'error (stack_not_started): No database is known.',
      'next: Run `npx holdfast dev`.',
    ]);
    expect(errorLines(describeError(error), 20)).toEqual([
      'error',
      '(stack_not_started):',
      'No database is',
      'known.',
      'next: Run',
      '`npx holdfast dev`.',
    ]);
    const command = 'npx holdfast logs worker --follow';
    for (const next of [`Read \`${command}\` now.`, `Read it: ${command}`]) {
      const described = describeError(new StackError('stack_not_started', 'It ended.', next));
      expect(errorLines(described, 20).filter((row) => row.includes(command))).toHaveLength(1);
    }
  });
});

test('help before a command shows its help', async () => {
  const asked = await runInProcess(['help', 'list']);
  expect(asked.stdout).toBe((await runInProcess(['list', '--help'])).stdout);
  expect(asked.stdout).toContain('Usage: holdfast list');
});
