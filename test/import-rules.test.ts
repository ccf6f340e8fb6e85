import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const OXLINT = join(PROJECT, 'node_modules', '.bin', 'oxlint');

/** What each folder may import of the others. A folder that is missing here fails the test. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  context: [],
  turn: ['context'],
  models: ['context', 'turn'],
  tools: ['context'],
  store: ['context', 'turn', 'models', 'tools'],
  temporal: ['turn'],
  activities: ['context', 'turn', 'models', 'tools', 'store', 'temporal'],
  workflows: ['context', 'turn'],
  config: ['context', 'turn', 'models', 'tools'],
  worker: ['context', 'turn', 'models', 'tools', 'store', 'temporal', 'activities', 'config', 'local'],
  client: ['context', 'turn', 'store', 'temporal', 'local'],
  verify: ['context', 'turn', 'store', 'temporal'],
  local: ['context', 'turn', 'store', 'temporal', 'config'],
  lab: ['context', 'turn', 'models', 'tools', 'store', 'config', 'local'],
  cli: 'context turn models tools store temporal config worker client verify local lab'.split(' '),
  demo: 'context turn models tools store temporal config client verify local cli activities'.split(' '),
  simulator: [],
};

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
  const configuration = z.looseObject({}).parse(JSON.parse(await readFile(join(PROJECT, '.oxlintrc.json'), 'utf8')));
  // Without types: there is no project to take them from.
  await writeFile(join(copy, '.oxlintrc.json'), JSON.stringify({ ...configuration, options: {} }));
  for (const folder of folders) {
    for (const [path, up] of [
      [folder, '..'],
      [join(folder, 'deeper'), '../..'],
    ] as const) {
      await mkdir(join(copy, 'src', path), { recursive: true });
      const imports = folders.map((other) => `import { value as ${other} } from '${up}/${other}/planted.ts';`);
      const uses = `export const all = [${folders.join(', ')}];\n`;
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
    expect(allowed, `say in this test and in .oxlintrc.json what src/${folder} may import`).toBeDefined();
    for (const path of [folder, join(folder, 'deeper')]) {
      const lines = refused.get(join('src', path, 'planted.ts')) ?? new Set();
      const letThrough = folders.filter((other, index) => other !== folder && !lines.has(index + 1));
      expect(letThrough.sort()).toEqual([...(allowed ?? [])].filter((other) => folders.includes(other)).sort());
    }
  });
});
