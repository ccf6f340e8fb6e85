import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../scripts/llama/serve.py', import.meta.url));

/** A real llama.cpp server with a tiny model. */
export interface LlamaServer {
  /** Without a path. */
  readonly url: string;
  stop(): Promise<void>;
}

/** @param context tokens that the server accepts in all */
export async function startLlamaServer(context: number): Promise<LlamaServer> {
  const python = process.env['HOLDFAST_LLAMA_PYTHON'];
  if (python === undefined) throw new Error('These tests need a model server: run `npm run test:llama`.');
  const child = spawn(python, [PROGRAM, '0', String(context)], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^LISTENING (http\S+)$/.exec(line)?.[1];
    if (url === undefined) continue;
    return {
      url,
      stop: async () => {
        child.kill('SIGTERM');
        await ended;
      },
    };
  }
  throw new Error(`The model server ended before it listened (${python}).`);
}
