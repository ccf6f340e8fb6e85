import { expect, test } from 'vitest';
import { cliReference } from '../../src/cli/reference.ts';

// `npx vitest run test/cli/reference.test.ts -u` writes the page.
test('docs/cli.md is what the commands print', async () => {
  await expect(await cliReference()).toMatchFileSnapshot('../../docs/cli.md');
});
