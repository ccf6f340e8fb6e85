import { calibratedTokens } from './estimate.ts';
import { measureText } from './measure.ts';
import type { Calibration, PartPiece } from '../plan/plan.ts';

/** A border between two pieces falls at a multiple of this. Characters. */
const CHUNK = 1_000;

/**
 * Takes one piece out of each text: the pieces of all numbers together are the texts, nothing twice. Borders are
 * set by tokens, not by characters, so that no piece is much larger than its share where a text is half prose, half base64.
 */
export function pieceOfTexts(texts: readonly string[], piece: PartPiece, calibration: Calibration): string[] {
  const chunks = texts.map(chunksOf);
  const sizes = chunks.map((of) => of.map((text) => calibratedTokens(measureText(text), calibration)));
  const total = sizes.flat().reduce((sum, size) => sum + size, 0);
  let before = 0;
  return chunks.map((of, text) =>
    of
      .filter((_, chunk) => {
        const size = sizes[text]?.[chunk] ?? 0;
        const middle = before + size / 2;
        before += size;
        return Math.min(piece.of, Math.floor((middle / Math.max(1, total)) * piece.of) + 1) === piece.number;
      })
      .join(''),
  );
}

function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + CHUNK);
    const last = text.charCodeAt(to - 1);
    // A surrogate pair stays whole.
    if (last >= 0xd800 && last < 0xdc00) to += 1;
    chunks.push(text.slice(from, to));
    from = to;
  }
  return chunks;
}
