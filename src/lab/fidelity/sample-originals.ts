import { headOf } from '../../context/clip.ts';
import { entryText } from '../../store/entry-text.ts';
import { SeededRandom } from '../generated/random.ts';
import type { LabSession } from '../session/lab-session.ts';

/** Words that are asked for: what somebody remembers of a sentence. */
const WORDS_ASKED = 12;
/** Shorter lines stand in many entries: they are asked for where an entry has no other. */
const FEWEST_WORDS = 6;
/** Of a line that has fewer words, but may be long: code without blanks, JSON, scripts without spaces. */
const CHARACTERS_ASKED = 80;

/** A line of an original, in its own words. */
export interface SampledLine {
  readonly position: number;
  readonly line: string;
}

/**
 * Lines of originals of any role, drawn anywhere in a session up to a position, each of another entry; the same for the same seed.
 * A `count` of Infinity asks for every entry that says anything.
 */
export function sampleOriginals(
  session: LabSession,
  { through, count, seed }: { readonly through: number; readonly count: number; readonly seed: number },
): readonly SampledLine[] {
  const random = new SeededRandom(seed);
  const positions = [...session.entries.keys()].filter((position) => position <= through);
  const sampled: SampledLine[] = [];
  while (sampled.length < count && positions.length > 0) {
    const [position] = positions.splice(random.between(0, positions.length - 1), 1);
    if (position === undefined) break;
    const lines = linesOf(entryText(session.content(position)));
    const line = lines[random.between(0, Math.max(0, lines.length - 1))];
    if (line !== undefined) sampled.push({ position, line });
  }
  return sampled;
}

/** The first words of each line that has enough, with the white space between them; else the beginning of each line. */
function linesOf(text: string): readonly string[] {
  const pattern = new RegExp(String.raw`^\s*(\S+(?:[^\S\n]+\S+){${FEWEST_WORDS - 1},${WORDS_ASKED - 1}})`, 'gmu');
  const lines = [...text.matchAll(pattern)].flatMap(([, line]) => line ?? []);
  const short = lines.filter((line) => line.length <= 4 * CHARACTERS_ASKED);
  if (short.length > 0) return short;
  return text.split('\n').flatMap((line) => headOf(line.trim(), CHARACTERS_ASKED).trim() || []);
}
