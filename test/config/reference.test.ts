import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ENVIRONMENT_VARIABLES, PROCESS_VARIABLES } from '../../src/config/environment.ts';
import { configurationReference } from './write-reference.ts';

// `npx vitest run test/config/reference.test.ts -u` writes the page.
test('docs/configuration.md is what the schema says', async () => {
  await expect(configurationReference()).toMatchFileSnapshot('../../docs/configuration.md');
});

test('every option has a meaning, every number a unit', () => {
  const options = [...configurationReference().matchAll(/^- `([a-z][^`]*)`: (.+?)\. (.*)$/gmu)];
  expect(options.length).toBeGreaterThan(60);
  for (const [, option, type = '', meaning] of options) {
    expect(meaning, option).not.toMatch(/^(?:Default: .*)?$/u);
    if (type.startsWith('number') || type.startsWith('whole number')) expect(type, option).toMatch(/, [a-z0-9]/);
  }
});

test('every variable of Holdfast that some code reads is documented', () => {
  const root = new URL('../../', import.meta.url);
  const files = ['src', 'scripts', 'bin'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|mjs|js)$/.test(file))
      .map((file) => `${folder}/${file}`),
  );
  const read =
    /(?:environment|process\.env|env)(?:\.|\[['"])((?:HOLDFAST|TEMPORAL|DATABASE|ANTHROPIC|OPENAI)_[A-Z_]+)/g;
  const names = files.flatMap((file) =>
    Array.from(readFileSync(new URL(file, root), 'utf8').matchAll(read), (match) => match[1] ?? ''),
  );
  expect(names).toContain('HOLDFAST_LOG_LEVEL');
  const documented = new Set([...ENVIRONMENT_VARIABLES, ...PROCESS_VARIABLES].map((variable) => variable.name));
  expect([...new Set(names)].filter((name) => !documented.has(name))).toEqual([]);
});
