import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ENVIRONMENT_VARIABLES } from '../../src/config/environment.ts';
import { configurationReference } from '../../src/config/reference.ts';

test('docs/configuration.md is what the schema says', () => {
  const file = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  expect(file, 'write configurationReference() to docs/configuration.md').toBe(configurationReference());
});

test('every option has a meaning, every number a unit', () => {
  const rows = configurationReference()
    .split('\n')
    .filter((line) => /^\| `[a-z]/.test(line))
    .map((line) => line.split(' | '));
  expect(rows.length).toBeGreaterThan(60);
  for (const [option, type = '', meaning = ''] of rows) {
    expect(meaning.trim(), option).not.toBe('');
    if (type.startsWith('number') || type.startsWith('whole number')) expect(type, option).toMatch(/, [a-z0-9]/);
  }
});

test('every variable of the environment is listed once', () => {
  const text = configurationReference();
  for (const { name } of ENVIRONMENT_VARIABLES) expect(text.split(`| \`${name}\` |`)).toHaveLength(2);
});
