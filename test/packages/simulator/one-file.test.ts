import { expect, test } from 'vitest';
import { simulator } from './support/simulator.ts';
import { createWorld, FILE_TOOLS, runLoop } from './support/tool-loop.ts';

const EXAMPLE = 'Read the README and say what this project does';
const README = '# Heron\n\nHeron counts birds. It needs no network.\n\n## Usage\n\nRun it.\n';

async function asked(task: string, files: Record<string, string>) {
  const { anthropic } = await simulator();
  const world = await runLoop({ client: anthropic, world: createWorld(files, task), tools: FILE_TOOLS });
  return { calls: world.calls.map(({ name, input }) => `${name} ${String(input['path'])}`), answer: world.answer };
}

test('the example of the command line reads the README and answers from it', async () => {
  const { calls, answer } = await asked(EXAMPLE, { 'README.md': README, 'a.txt': 'a' });
  expect(calls).toEqual(['read_file README.md']);
  expect(answer).toContain('“Heron”');
  expect(answer).toContain('Heron counts birds.');
});

test('a README in another spelling is found by listing the files', async () => {
  const { calls, answer } = await asked(EXAMPLE, { 'a.txt': 'a', 'readme.rst': 'Heron counts birds.\n' });
  expect(calls).toEqual(['read_file README.md', 'list_files .', 'read_file readme.rst']);
  expect(answer).toContain('Heron counts birds.');
});

test('what cannot be read is said; words that name no file call nothing', async () => {
  expect(await asked(EXAMPLE, { 'a.txt': 'a' })).toMatchObject({
    calls: ['read_file README.md', 'list_files .'],
    answer: expect.stringContaining('could not read README.md: README.md does not exist.'),
  });
  expect(await asked('Open docs/plan.txt, please.', { 'docs/plan.txt': 'One.\nTwo.' })).toMatchObject({
    calls: ['read_file docs/plan.txt'],
  });
  expect((await asked('I read a lot. What do you think?', { 'README.md': README })).calls).toEqual([]);
});
