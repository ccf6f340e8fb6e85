import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface ProjectCopy {
  readonly root: string;
  /** For what the run writes; short, since sockets are made below it. */
  readonly temporary: string;
  write(file: string, text: string): void;
  remove(): void;
}

/** Files of a clone as they are in its working folder. */
export function projectFiles(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

/** A copy that mutations are written into. Packages are linked one by one, so that what is cached beside them is the copy's own. */
export function copyProject(root: string): ProjectCopy {
  const folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  // For Postgres' own user.
  chmodSync(folder, 0o711);
  const copy = join(folder, 'project');
  const temporary = join(folder, 't');
  mkdirSync(temporary);
  for (const file of projectFiles(root)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  const packages = join(root, 'node_modules');
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(packages)) {
    if (name !== '.cache' && name !== '.vite') symlinkSync(join(packages, name), join(copy, 'node_modules', name));
  }
  const write = (file: string, text: string): void => writeFileSync(join(copy, file), text);
  // Compiled for programs that tests start, and none of those are run.
  write('scripts/build.mjs', '');
  return { root: copy, temporary, write, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
