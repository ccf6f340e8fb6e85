// Only what an old Node understands: this has to run there to say that it is too old.
import { readFileSync } from 'fs';

/**
 * What is wrong with this Node, or null.
 *
 * @param {string} version such as "20.19.0"
 * @param {string} minimum
 */
export function explainNode(version, minimum) {
  const found = version.split('.').map(Number);
  const wanted = minimum.split('.').map(Number);
  for (let place = 0; place < 3; place++) {
    if (found[place] > wanted[place]) return null;
    if (found[place] < wanted[place]) {
      return `Node ${version} is too old; Holdfast needs ${minimum} or newer.\nNext: install it from https://nodejs.org, or with your version manager (nvm install ${wanted[0]}).`;
    }
  }
  return null;
}

/** Ends the process with one message when Node is too old. */
export function refuseOldNode() {
  const { node } = JSON.parse(readFileSync(new URL('../../../scripts/versions.json', import.meta.url), 'utf8'));
  const problem = explainNode(process.versions.node, node);
  if (problem === null) return;
  process.stderr.write(`holdfast: ${problem}\n`);
  process.exit(1);
}
