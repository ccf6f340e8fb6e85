import { expect, test } from 'vitest';
import { cliReference, errorReference } from './write-reference.ts';

// `npx vitest run test/cli/reference.test.ts -u` writes the page.
test('docs/cli.md is what the commands print', async () => {
  await expect(await cliReference()).toMatchFileSnapshot('../../docs/cli.md');
});

test('docs/errors.md lists every code of the client', async () => {
  await expect(errorReference()).toMatchFileSnapshot('../../docs/errors.md');
});
