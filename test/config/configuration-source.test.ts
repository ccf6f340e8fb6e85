import { chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { temporaryDirectory } from './support/written-configuration.ts';

/** A project folder with a file, and a folder two levels below it. */
async function project(
  written = 'agents: { reviewer: { workspace: ./docs } }',
): Promise<{ top: string; below: string }> {
  const top = await temporaryDirectory();
  const below = join(top, 'packages', 'one');
  await mkdir(below, { recursive: true });
  await writeFile(join(top, 'holdfast.yaml'), written);
  return { top, below };
}

test('the file is found upwards, and workspaces begin at its folder', async () => {
  const { top, below } = await project();
  const { file, agents } = loadConfiguration({ directory: below, environment: {} });
  expect(file).toBe(join(top, 'holdfast.yaml'));
  expect(agents.map(({ name, workspace }) => [name, workspace])).toEqual([
    ['default', top],
    ['reviewer', join(top, 'docs')],
  ]);
});

test('the nearest file counts, and HOLDFAST_CONFIG names another', async () => {
  const { top, below } = await project();
  await writeFile(join(below, 'holdfast.yaml'), '');
  const fileIn = (environment: Record<string, string>) => loadConfiguration({ directory: below, environment }).file;
  expect(fileIn({})).toBe(join(below, 'holdfast.yaml'));
  expect(fileIn({ HOLDFAST_CONFIG: join(top, 'holdfast.yaml') })).toBe(join(top, 'holdfast.yaml'));
  expect(() => fileIn({ HOLDFAST_CONFIG: join(top, 'none.yaml') })).toThrow(/none\.yaml cannot be read \(ENOENT\)/u);
});

test('a mistake in a file above is named by its path from here', async () => {
  const { below } = await project('agents:\n  a: { steps: 1 }\n');
  expect(() => loadConfiguration({ directory: below, environment: {} })).toThrow(/\.\.\/\.\.\/holdfast\.yaml:2:8: /u);
});

test.runIf(process.getuid?.() === 0)(
  "another user's file counts in its own folder or when it is named; from below it is passed over with a warning",
  async () => {
    const { top, below } = await project();
    const file = join(top, 'holdfast.yaml');
    await chown(file, 12_345, 12_345);
    const warnings: string[] = [];
    const listen = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    const fileIn = (directory: string, environment = {}) => loadConfiguration({ directory, environment }).file;
    expect([fileIn(below), fileIn(below)]).toEqual([null, null]);
    await nextTick();
    expect(warnings).toEqual([expect.stringMatching(/belongs to user 12345 .* HOLDFAST_CONFIG/u)]);
    expect(fileIn(top)).toBe(file);
    expect(fileIn(below, { HOLDFAST_CONFIG: file })).toBe(file);
  },
);

test.runIf(process.getuid?.() === 0).each(['holdfast.yaml', 'holdfast.json'])(
  "behind another user's %s the search goes on upwards",
  async (name) => {
    const { top, below } = await project();
    const foreign = join(dirname(below), name);
    await writeFile(foreign, '');
    await chown(foreign, 12_345, 12_345);
    expect(loadConfiguration({ directory: below, environment: {} }).file).toBe(join(top, 'holdfast.yaml'));
  },
);
