import { expect, test } from 'vitest';
import { startLines } from '../../../src/cli/services/server.ts';

test.each([
  [false, ''],
  [true, ' -H "Authorization: Bearer <key>"'],
])('the example of a server shows whether it needs a key: %s', (needsKeys, header) => {
  const url = 'http://127.0.0.1:7070';
  expect(startLines(url, url, needsKeys).at(-1)).toBe(`  example:    curl ${url}/v1/conversations${header}`);
});
