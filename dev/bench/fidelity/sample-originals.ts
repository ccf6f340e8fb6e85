import { headOf } from '../../../src/context/plan/clip.ts';
import { readableEntryText } from '../../../src/store/log/entry-text.ts';
import { splitPassages } from '../../../src/store/search/passage-writer.ts';
import { SeededRandom } from '../../random.ts';
import type { LabSession } from '../../../packages/lab/src/session/lab-session.ts';

/** Words that are asked for: what somebody remembers of a sentence. */
const WORDS_ASKED = 12;
/** Shorter lines stand in many entries: they are asked for where an entry has no other. */
const FEWEST_WORDS = 6;
/** Of a line that has fewer words, but may be long: code without blanks, JSON, scripts without spaces. */
const CHARACTERS_ASKED = 80;

/** Words of an original, as they stand there. */
export interface SampledWords {
  readonly asked: string;
  /** What a passage must say: where the index cuts the text within the words, the longer part. */
  readonly wanted: string;
}

/**
 * Words of originals of any role, drawn anywhere in a session up to a position and from anywhere in their lines, each of another
 * entry; the same for the same seed. A `count` of Infinity asks for every entry that says anything.
 */
export function sampleOriginals(
  session: LabSession,
  { through, count, seed }: { readonly through: number; readonly count: number; readonly seed: number },
): readonly SampledWords[] {
  const random = new SeededRandom(seed);
  const positions = [...session.entries.keys()].filter((position) => position <= through);
  const sampled: SampledWords[] = [];
  while (sampled.length < count && positions.length > 0) {
    const [position] = positions.splice(random.between(0, positions.length - 1), 1);
    if (position === undefined) break;
    const text = readableEntryText(session.content(position));
    const pieces = piecesOf(text, random);
    const piece = pieces[random.between(0, Math.max(0, pieces.length - 1))];
    if (piece !== undefined)
      sampled.push({ asked: text.slice(piece.from, piece.to), wanted: longestUncut(text, piece) });
  }
  return sampled;
}

/** Characters of a text, the end not included. */
interface Piece {
  readonly from: number;
  readonly to: number;
}

/** Of each line that has enough words some in a row, with the white space between them; else the beginning of each line. */
function piecesOf(text: string, random: SeededRandom): readonly Piece[] {
  const lines = [...text.matchAll(/[^\n]+/gu)].map(({ 0: line, index }) => ({ line, index }));
  const rows = lines.flatMap(({ line, index }) => {
    const words = [...line.matchAll(/\S+/gu)].map(({ 0: word, index: at }) => ({
      from: index + at,
      to: index + at + word.length,
    }));
    if (words.length < FEWEST_WORDS) return [];
    const first = random.between(0, Math.max(0, words.length - WORDS_ASKED));
    const row = words.slice(first, first + WORDS_ASKED);
    return { from: row[0]?.from ?? 0, to: row.at(-1)?.to ?? 0 };
  });
  const short = rows.filter(({ from, to }) => to - from <= 4 * CHARACTERS_ASKED);
  if (short.length > 0) return short;
  return lines.flatMap(({ line, index }) => {
    const from = index + line.length - line.trimStart().length;
    const { length } = headOf(line.trim(), CHARACTERS_ASKED).trimEnd();
    return length === 0 ? [] : { from, to: from + length };
  });
}

function longestUncut(text: string, { from, to }: Piece): string {
  const parts = splitPassages(text).map(({ offset, text: passage }) =>
    text.slice(Math.max(from, offset), Math.min(to, offset + passage.length)),
  );
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}
