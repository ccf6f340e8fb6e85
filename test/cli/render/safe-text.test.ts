import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeLine, safeText } from '../../../src/cli/render/safe-text.ts';

describe('text of a model or a tool on a terminal', () => {
  test('cannot move the cursor, set the title or ring the bell', () => {
    expect(safeText('a\u001b[2Jb\u001b]0;title\u0007c\u0007d\u009b31me\u0000')).toBe('abcde');
  });

  test('cannot show a line as another than it is', () => {
    expect(safeText('safe\u202eexe.txt\u2066')).toBe('safeexe.txt');
    expect(safeText('progress 10 %\rprogress 20 %')).not.toContain('\r');
  });

  test('keeps line breaks and turns tabs into spaces', () => {
    expect(safeText('a\r\nb\tc\n')).toBe('a\nb    c\n');
  });

  test('shows lone surrogates as a replacement', () => {
    expect(safeText('a\ud800b')).toBe('a\ufffdb');
    expect(safeText('🚀')).toBe('🚀');
  });

  test('never lets a control character through', () => {
    fc.assert(
      fc.property(fc.uint16Array({ maxLength: 80 }), (units) => {
        const text = String.fromCharCode(...units);
        expect(safeText(text)).not.toMatch(/[^\P{Control}\n]/u);
      }),
    );
  });

  test('safeLine is one line', () => {
    expect(safeLine('  a\n\n b\tc ')).toBe('a b c');
  });
});
