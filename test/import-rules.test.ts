import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import config from '../oxlint.config.mjs';
import { ALLOWED } from '../scripts/import-rules.mjs';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const OXLINT = join(PROJECT, 'node_modules', '.bin', 'oxlint');

let copy: string;
const folders = (await readdir(join(PROJECT, 'src'), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const reportSchema = z.object({
  diagnostics: z.array(
    z.object({
      code: z.string(),
      filename: z.string(),
      labels: z.array(z.object({ span: z.object({ line: z.number() }) })),
    }),
  ),
});

/** Lines of each planted file that the import rule refuses. */
let refused: Map<string, Set<number>>;

/** A file per folder with one import per line: line n is from the nth folder. */
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'holdfast-import-rules-'));
  // Without types: there is no project to take them from.
  await writeFile(join(copy, '.oxlintrc.json'), JSON.stringify({ ...config, options: {} }));
  for (const folder of folders) {
    for (const [path, up] of [
      [folder, '..'],
      [join(folder, 'deeper'), '../..'],
    ] as const) {
      await mkdir(join(copy, 'src', path), { recursive: true });
      const imports = folders.map((other) => `import { value as ${other}Value } from '${up}/${other}/planted.ts';`);
      const uses = `export const all = [${folders.map((other) => `${other}Value`).join(', ')}];\n`;
      await writeFile(join(copy, 'src', path, 'planted.ts'), [...imports, uses].join('\n'));
    }
  }
  const report = await promisify(execFile)(OXLINT, ['--format', 'json', 'src'], { cwd: copy, maxBuffer: 2 ** 26 })
    .catch((error: unknown) => z.object({ stdout: z.string() }).parse(error))
    .then(({ stdout }) => reportSchema.parse(JSON.parse(stdout)));
  refused = new Map();
  for (const { code, filename, labels } of report.diagnostics) {
    if (!code.includes('no-restricted-imports')) continue;
    const lines = refused.get(filename) ?? new Set();
    for (const { span } of labels) lines.add(span.line);
    refused.set(filename, lines);
  }
});

afterAll(() => rm(copy, { recursive: true, force: true }));

describe('the linter refuses imports from folders above', () => {
  test.each(folders)('src/%s', (folder) => {
    const allowed = ALLOWED[folder];
    expect(allowed, `say in scripts/import-rules.mjs what src/${folder} may import`).toBeDefined();
    for (const path of [folder, join(folder, 'deeper')]) {
      const lines = refused.get(join('src', path, 'planted.ts')) ?? new Set();
      const letThrough = folders.filter((other, index) => other !== folder && !lines.has(index + 1));
      const values = (allowed ?? []).filter(
        (other) => folders.includes(other) && !(folder === 'workflows' && other === 'activities'),
      );
      expect(letThrough.sort()).toEqual(values.toSorted());
    }
  });
});
