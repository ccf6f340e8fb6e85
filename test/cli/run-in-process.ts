import { createProgram } from '../../src/cli/main.ts';

/** Runs a command in this process, which takes milliseconds where a process takes seconds, and returns what it printed. */
export async function runInProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const before = { ...process.env };
  const write = process.stdout.write.bind(process.stdout);
  let printed = '';
  Object.assign(process.env, environment);
  process.stdout.write = (chunk: string | Uint8Array): boolean => {
    printed += String(chunk);
    return true;
  };
  try {
    await createProgram().parseAsync(['node', 'holdfast', ...args]);
  } finally {
    process.stdout.write = write;
    process.env = before;
  }
  return printed;
}
