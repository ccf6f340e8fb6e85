// `npm run demo`, `npm test`, `npm run bench`: set-up when something is missing, then the real command.
import { refuseOldNode } from '../src/local/setup/check-node.mjs';

refuseOldNode();
const { setUpOrExplain } = await import('./setup/set-up.mjs');
const { runCommand } = await import('./setup/run-command.mjs');
const [command = '', ...commandArguments] = process.argv.slice(2);
process.exitCode = (await setUpOrExplain()) ? await runCommand(command, commandArguments) : 1;
