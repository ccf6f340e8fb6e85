// Starts a guarded program, prints its process id and waits to be killed.
import { startGuardedProcess } from '../../dist/local/guarded-process.js';

const directory = process.argv[2] ?? '/';
const guarded = await startGuardedProcess({
  name: 'sleep',
  command: '/bin/sh',
  arguments: ['-c', 'while :; do sleep 0.05; done'],
  environment: { PATH: '/usr/bin:/bin', TMPDIR: directory },
  workingDirectory: directory,
});
process.stdout.write(`${guarded.processId}\n`);
await guarded.exited;
