import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const IMPORT = /(?:from|import)\s*\(?\s*'([^']+)'/gu;

/** Packages that a file and all that it imports, at whatever distance, import. */
function packagesOf(entry: string): ReadonlySet<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const path = join(dirname(file), name);
      if (!name.startsWith('.')) packages.add(name);
      else if (existsSync(path)) waiting.push(path);
    }
  }
  expect(seen.size).toBeGreaterThan(20);
  return packages;
}

test('no tokenizer is on the path of a step: activities estimate from stored measurements', () => {
  const packages = packagesOf('src/activities/create-activities.ts');
  expect([...packages].filter((name) => name.includes('tokenizer'))).toEqual([]);
  // So that an empty walk cannot pass: the simulator, which is no part of a step, has one.
  expect([...packagesOf('packages/simulator/src/server.ts')].filter((name) => name.includes('tokenizer'))).not.toEqual(
    [],
  );
});
