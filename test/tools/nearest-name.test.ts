import { expect, test } from 'vitest';
import { nearestName } from '../../src/tools/runtime/nearest-name.ts';

const NAMES = ['read_file', 'write_file', 'list_files', 'allowCommands', 'model'];

test.each([
  ['readFile', 'read_file'],
  ['raed_file', 'read_file'],
  ['read-files', 'read_file'],
  ['allow_commands', 'allowCommands'],
  ['modle', 'model'],
  ['xyz', null],
  ['', null],
  ['delete_everything', null],
])('%s → %s', (name, expected) => {
  expect(nearestName(name, NAMES)).toBe(expected);
});
