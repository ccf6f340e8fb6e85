import { expect, test } from 'vitest';
import { printable } from '../../../packages/console/src/text/printable.ts';

test('escapes, direction marks and halves of characters of titles, names and outputs are shown and not obeyed', () => {
  expect(printable('\u001B[2J\u0007 \u009B31m\u007F')).toBe('␛[2J␇ ⟨U+009B⟩31m␡');
  expect(printable('a\u202Egpj.exe\u2066\uFEFF')).toBe('a⟨U+202E⟩gpj.exe⟨U+2066⟩⟨U+FEFF⟩');
  expect(printable('\uD83D')).toBe('⟨U+D83D⟩');
  expect(printable('one\r\ntwo\tthree 👍 é')).toBe('one\ntwo\tthree 👍 é');
});
