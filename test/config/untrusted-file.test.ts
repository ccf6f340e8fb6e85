import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../src/config/errors.ts';
import { otherWritersOf } from '../../src/config/options/key-options.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { temporaryDirectory } from './support/written-configuration.ts';

const COMMAND = `
providers:
  gateway: { protocol: chat, baseUrl: "http://127.0.0.1:1/v1", apiKeyCommand: "echo key" }
`;
const WITHOUT_COMMAND = 'defaultModel: simulator/sim-32k\n';

/** Loads a file of this mode and owner; the codes of its problems. */
async function problems(text: string, mode: number, owner?: number): Promise<readonly string[]> {
  const directory = await temporaryDirectory();
  const file = join(directory, 'holdfast.yaml');
  await writeFile(file, text);
  await chmod(file, mode);
  if (owner !== undefined) await chown(file, owner, owner);
  try {
    loadConfiguration({ directory, environment: {} });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map(({ code, option, place }) => `${code} ${option} ${place?.line}`);
  }
}

describe('a command that prints a key', () => {
  test('and the client key of the database: file tools keep away from the files that they name, and from no folder', async () => {
    const directory = await temporaryDirectory();
    const command = 'cd / && cd . && sh ./key.sh';
    await writeFile(join(directory, 'holdfast.yaml'), COMMAND.replace('echo key', command));
    const environment = { DATABASE_URL: 'postgres://a@b/c?sslkey=client.key', PGSSLKEY: 'own.key' };
    const { protectedPaths } = loadConfiguration({ directory, environment });
    for (const name of ['key.sh', 'client.key', 'own.key']) expect(protectedPaths).toContain(join(directory, name));
    for (const folder of [directory, '/']) expect(protectedPaths).not.toContain(folder);
  });

  test('is taken from a file that nobody else may write', async () => {
    expect(await problems(COMMAND, 0o644)).toEqual([]);
  });

  test.each(['664', '646', '666', '620'])('is refused from a file of mode %s', async (mode) => {
    expect(await problems(COMMAND, Number.parseInt(mode, 8))).toEqual([
      'untrusted_file providers.gateway.apiKeyCommand 3',
    ]);
  });

  test('of an MCP server is refused the same', async () => {
    const server = 'mcpServers:\n  files: { command: npx }\n';
    expect(await problems(server, 0o664)).toEqual(['untrusted_file mcpServers.files.command 2']);
  });

  test('of modules, which a worker runs, is refused the same, and file tools keep away from them', async () => {
    expect(await problems('modules: [tools.ts]\n', 0o664)).toEqual(['untrusted_file modules 1']);
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'holdfast.yaml'), 'modules: [tools.ts]\n', { mode: 0o644 });
    const { modules, protectedPaths } = loadConfiguration({ directory, environment: {} });
    expect(modules).toEqual([join(directory, 'tools.ts')]);
    expect(protectedPaths).toContain(join(directory, 'tools.ts'));
  });

  // Only root can give a file away.
  if (process.getuid?.() === 0)
    test('is refused from a file of another user', async () => {
      expect(await problems(COMMAND, 0o600, 1)).toEqual(['untrusted_file providers.gateway.apiKeyCommand 3']);
    });

  test('may stand in a file of root, whoever runs Holdfast', () => {
    expect(otherWritersOf({ uid: 0, mode: 0o100644 })).toBe(null);
    expect(otherWritersOf({ uid: process.getuid?.() ?? 0, mode: 0o100600 })).toBe(null);
    expect(otherWritersOf({ uid: 12_345, mode: 0o100600 })).toBe('belongs to user 12345');
  });
});

test('a file without a command may be anyone’s', async () => {
  expect(await problems(WITHOUT_COMMAND, 0o666)).toEqual([]);
});
