import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPainter } from '../../../src/cli/follow/painter.ts';

/** Cursor up, clear below, modes; or one character. */
const ESCAPE_CODES = new RegExp(String.raw`\x1b\[(\d+)A|\x1b\[(J)|\x1b\[\?(25[hl]|2026[hl])|[^]`, 'gu');

/** A terminal with endless rows that understands what the painter writes, and nothing else. */
function createTerminal() {
  const rows: string[] = [''];
  let row = 0;
  let column = 0;
  let cursor = true;
  const put = (character: string): void => {
    const line = (rows[row] ?? '').padEnd(column);
    rows[row] = line.slice(0, column) + character + line.slice(column + 1);
    column += 1;
  };
  return {
    write(text: string): void {
      for (const [token, up, clear, mode] of text.matchAll(ESCAPE_CODES)) {
        if (up !== undefined) row -= Number(up);
        else if (clear !== undefined) {
          rows.length = row + 1;
          rows[row] = (rows[row] ?? '').slice(0, column);
        } else if (mode !== undefined) cursor = mode === '25h' ? true : mode === '25l' ? false : cursor;
        else if (token === '\n') {
          row += 1;
          column = 0;
          rows[row] ??= '';
        } else if (token === '\r') column = 0;
        else put(token);
      }
    },
    columns: 40,
    screen: () => rows.join('\n'),
    cursor: () => cursor,
  };
}

describe('the painted region', () => {
  test('is replaced, and lines above it stay', () => {
    const terminal = createTerminal();
    const painter = createPainter(terminal);
    painter.paint(['a', 'status']);
    painter.commit(['first']);
    painter.paint(['b', 'longer', 'status 2']);
    painter.commit(['second']);
    painter.paint(['status 3']);
    expect(terminal.screen()).toBe('first\nsecond\nstatus 3');
    painter.close();
    expect(terminal.screen()).toBe('first\nsecond\n');
  });

  test('whatever comes, what was committed stands in order with the newest region below', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('x', 'y', ' '), maxLength: 39 }), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ kind: fc.constantFrom('commit', 'paint'), lines }), { maxLength: 20 }),
        (steps) => {
          const terminal = createTerminal();
          const painter = createPainter(terminal);
          const committed: string[] = [];
          let region: readonly string[] = [];
          for (const step of steps) {
            if (step.kind === 'commit') {
              painter.commit(step.lines);
              committed.push(...step.lines);
            } else {
              painter.paint(step.lines);
              region = step.lines;
            }
          }
          const expected = [...committed.map((line) => `${line}\n`), region.join('\n')].join('');
          expect(terminal.screen()).toBe(expected);
        },
      ),
    );
  });

  test('hides the cursor while it paints and gives it back', () => {
    const terminal = createTerminal();
    const painter = createPainter(terminal);
    painter.paint(['x']);
    expect(terminal.cursor()).toBe(false);
    painter.close();
    expect(terminal.cursor()).toBe(true);
  });
});
