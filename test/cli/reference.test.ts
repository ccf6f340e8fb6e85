import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { cliReference } from '../../src/cli/reference.ts';

test('docs/cli.md is what the commands print', () => {
  const file = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
  expect(file, 'write cliReference() to docs/cli.md').toBe(cliReference());
});

test('the page tells every exit code once', () => {
  for (const { meaning } of Object.values(EXIT_CODES)) expect(cliReference().split(meaning)).toHaveLength(2);
});
