import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMAND_NAMES } from '../../scripts/setup/run-command.mjs';

test('every script of the package that sets up and runs something names a command that there is', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const run = Object.values(scripts).flatMap((script) => /^node scripts\/run\.mjs (\S+)$/u.exec(script)?.[1] ?? []);
  expect(run.toSorted()).toEqual(COMMAND_NAMES.toSorted());
});
