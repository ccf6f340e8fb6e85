import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadModules } from '../../src/config/load-modules.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-modules-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function moduleOf(name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text);
  return file;
}

const TOOL = "{ name: 'convert', description: 'Converts.', effect: 'none', run: async () => ({ content: '' }) }";

test('takes exported tools and agents, single and in lists, each once', async () => {
  const tools = await moduleOf('tools.mjs', `export const convert = ${TOOL};\nexport const other = 'no part';\n`);
  const agents = await moduleOf(
    'agents.mjs',
    `import { convert } from ${JSON.stringify(pathToFileURL(tools).href)};
export const agents = [{ name: 'thermometer', instructions: '', policy: {} }];
export const tools = [convert];
`,
  );
  const found = await loadModules([tools, agents]);
  expect(found.tools.map(({ name }) => name)).toEqual(['convert']);
  expect(found.agents.map(({ name }) => name)).toEqual(['thermometer']);
  const common = await moduleOf('tools.cjs', `exports.convert = ${TOOL};`);
  expect((await loadModules([common])).tools).toHaveLength(1);
});

test.each([
  ['exports nothing of use', 'export const a = 1;', /exports no agent and no tool/u],
  ['throws', "throw new Error('no such table');", /cannot be run: no such table/u],
  ['imports what is not installed', "import 'not-installed-here';", /cannot be run: .*not-installed-here/u],
])('names a module that %s', async (_what, text, message) => {
  const file = await moduleOf('broken.mjs', text);
  await expect(loadModules([file])).rejects.toMatchObject({
    code: 'module_unusable',
    message: expect.stringMatching(message),
  });
});
