import { spawn } from 'node:child_process';

/**
 * Runs a program to its end and keeps what it says.
 *
 * @param {string} command
 * @param {readonly string[]} programArguments
 * @param {{ cwd?: string, environment?: NodeJS.ProcessEnv, timeoutMilliseconds?: number }} [options]
 * @returns {Promise<{ status: number | null, output: string, missing: boolean }>} `missing`: there is no such program
 */
export async function runProgram(command, programArguments, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, programArguments, {
      cwd: options.cwd,
      env: options.environment ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMilliseconds,
    });
    let output = '';
    const keep = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => {
      const missing = 'code' in error && error.code === 'ENOENT';
      resolve({ status: null, output: `${output}${error.message}`, missing });
    });
    child.once('close', (status) => resolve({ status, output, missing: false }));
  });
}
