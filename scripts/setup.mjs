// `npm run setup`: brings all that Holdfast needs to run in a clone. No dependencies: it runs before there are any.
import { refuseOldNode } from '../src/local/setup/check-node.mjs';

refuseOldNode();
const { setUpOrExplain } = await import('./setup/set-up.mjs');
if (!(await setUpOrExplain())) process.exitCode = 1;
