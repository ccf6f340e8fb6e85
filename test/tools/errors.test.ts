import { expect, test } from 'vitest';
import { fileError, ToolError } from '../../src/tools/errors.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no, open '/home/ann/secret/a.txt'`), { code });
}

test.each([
  ['ENOENT', 'not_found', 'a.txt does not exist. list_files shows what is there.'],
  ['ENOTDIR', 'wrong_kind', 'A part of a.txt is a file, not a directory.'],
  ['EISDIR', 'wrong_kind', 'a.txt is a directory. list_files shows what is in it.'],
  ['EACCES', 'no_permission', 'No permission for a.txt.'],
  ['EPERM', 'no_permission', 'No permission for a.txt.'],
  ['ENAMETOOLONG', 'path_refused', 'The path, or a name in it, is too long for the file system.'],
  ['ELOOP', 'path_refused', 'a.txt goes through a symbolic link that cannot be followed.'],
  ['ENOSPC', 'file_system', 'No space left on the device for a.txt. Nothing was changed.'],
  ['EDQUOT', 'file_system', 'No space left on the device for a.txt. Nothing was changed.'],
  ['EROFS', 'no_permission', 'a.txt lies on a read-only file system.'],
  ['EIO', 'file_system', 'a.txt: the file system answered EIO.'],
])('the model reads of %s what is wrong, and no path of the machine', (systemCode, code, message) => {
  expect(fileError(systemError(systemCode), 'a.txt')).toMatchObject({ code, message });
});

test('what is no error of the file system says so, and an error of a tool stays as it is', () => {
  expect(fileError(new Error('odd'), 'a.txt').message).toBe('a.txt: the file system answered an unknown error.');
  const own = new ToolError('not_found', 'no such line');
  expect(fileError(own, 'a.txt')).toBe(own);
});
