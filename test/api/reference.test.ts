import { expect, test } from 'vitest';
import { apiReference } from './write-reference.ts';

const page = apiReference();

// `npx vitest run test/api/reference.test.ts -u` writes the page.
test('docs/api.md is what the doc comments say', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/api.md');
});

test('every method, option and event has a meaning', () => {
  const options = page.match(/^ *- `[^`]+`: `[^`]+`\.$/gmu) ?? [];
  const methods = page.match(/^### .+\n\n`[^`]+`\n\n(?:-|#|Errors|Returns)/gmu) ?? [];
  const events = page.match(/^- `\w+`:(?: Data: .*)?$/gmu) ?? [];
  expect([...options, ...methods, ...events]).toEqual([]);
});
