// Kept histories are added, never changed: a turn that began with an older version replays by them. The manifest of their
// checksums cannot show a change that renews the manifest too; what was committed before can.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';

const FOLDER = 'test/histories/kept';

/**
 * Digests of changes that were right, made before the version was released: the host names of the machine that had
 * recorded them were taken out.
 */
const ACCEPTED = new Set(['b86e30a36d5e37895ed7ce4625e9f92f0bb01732722f7f769adb9071dca48913']);

/** @typedef {{ commit: string, paths: string[], digest: string }} Change */

/**
 * Every change or removal of a kept history, in the commits that are there and in the working folder.
 * @param {string} root of the clone
 * @param {{ deepen?: boolean }} [options] `deepen`: fetches what a shallow clone lacks, where it was cloned from; one commit that
 *   changes a history and the manifest with it would pass otherwise
 * @returns {{ changes: Change[], notice: string | null }} `notice`: what could not be looked at
 */
export function changedKeptHistories(root, { deepen = false } = {}) {
  const top = git(root, ['rev-parse', '--show-toplevel']);
  if (top === null || realpathSync(top.trim()) !== realpathSync(root)) {
    return {
      changes: [],
      notice: 'this is not a git clone: whether kept histories were changed cannot be told',
    };
  }
  const isShallow = () => git(root, ['rev-parse', '--is-shallow-repository'])?.trim() === 'true';
  if (deepen && isShallow()) git(root, ['fetch', '--quiet', '--unshallow']);
  const committed = git(root, ['log', '-m', '--format=commit %h', ...CHANGED]);
  // Before the first commit there is no HEAD, and nothing was kept.
  if (committed === null) return { changes: [], notice: null };
  const uncommitted = git(root, ['diff', 'HEAD', ...CHANGED]) ?? '';
  const changes = readChanges(`${committed}\ncommit (not committed)\n${uncommitted}`);
  const count = git(root, ['rev-list', '--count', 'HEAD'])?.trim();
  return {
    changes: changes.filter(({ digest }) => !ACCEPTED.has(digest)),
    notice: isShallow() ? `a shallow clone: kept histories are compared over its ${count} newest commits only` : null,
  };
}

/** Without renames: what is moved away is gone from its place. */
const CHANGED = ['--raw', '--no-abbrev', '--no-renames', '--diff-filter=MDT', '--', FOLDER];

/**
 * @param {string} log of `git log --raw` with a line `commit …` before each commit
 * @returns {Change[]}
 */
function readChanges(log) {
  return log
    .split(/^commit /mu)
    .slice(1)
    .flatMap((section) => {
      const [commit = '', ...rest] = section.split('\n');
      // `:100644 100644 <blob before> <blob after> M<tab><path>`: contents tell changes apart, whatever commit makes them.
      const lines = rest.filter((line) => line.startsWith(':')).map((line) => line.split(' ').slice(2).join(' '));
      if (lines.length === 0) return [];
      const digest = createHash('sha256').update(lines.sort().join('\n')).digest('hex');
      return [{ commit: commit.slice(0, 16), paths: lines.map((line) => line.split('\t')[1] ?? line), digest }];
    });
}

/**
 * @param {string} root
 * @param {string[]} args
 * @returns {string | null} what git printed; null when it failed or is not installed
 */
function git(root, args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout : null;
}

/** @param {Change[]} changes */
export function describeChanges(changes) {
  const lines = changes.map(({ commit, paths }) => `${commit}: ${paths.join(', ')}`);
  return `${lines.join('\n')}\nA kept history is never changed or removed: turns that began with its version are still under way.\nBring it back from the commit before, and record a new one beside it: npm run record-histories`;
}
