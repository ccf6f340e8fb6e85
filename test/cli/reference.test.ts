import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { cliReference } from '../../src/cli/reference.ts';

// `npx vitest run test/cli/reference.test.ts -u` writes the page.
test('docs/cli.md is what the commands print', async () => {
  await expect(cliReference()).toMatchFileSnapshot('../../docs/cli.md');
});

test('the page tells every exit code once', () => {
  for (const { meaning } of Object.values(EXIT_CODES)) expect(cliReference().split(meaning)).toHaveLength(2);
});
