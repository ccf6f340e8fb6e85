import type { Job, JobFile, JobItem } from '../demo/job.ts';
import type { SeededRandom } from '../random.ts';

const WORDS = ['valve', 'log', 'shift', 'gauge', 'seal', 'motor', 'check', 'line', 'tank', 'filter', 'quiet', 'steady'];

/**
 * Files with two facts each, invented by the seed: what a reading task asks for, and what must stand in its report.
 *
 * @param lines of each file that hold nothing that is asked for, of about 17 tokens each
 */
export function inventJob(files: number, lines: number, random: SeededRandom): Job {
  const items = Array.from({ length: files }, (_, index): JobItem => {
    const label = `pump-${index + 1}`;
    const serial = `SN${random.between(100_000, 999_999)}X${index + 1}`;
    const pressure = `${random.between(10, 99)}.${random.between(1, 9)}`;
    return {
      label,
      files: [fileOf(label, { serial, pressure }, { lines, random })],
      facts: [
        { column: 'serial', words: 'the value of "serial"', value: serial },
        { column: 'pressure', words: 'the number after "opens at"', value: pressure },
      ],
    };
  });
  return { noun: 'pump', description: 'logs of pumps', items, remarks: [] };
}

function fileOf(
  label: string,
  facts: { readonly serial: string; readonly pressure: string },
  { lines, random }: { readonly lines: number; readonly random: SeededRandom },
): JobFile {
  const filler = Array.from(
    { length: lines },
    (_, line) => `Day ${line + 1}: ${Array.from({ length: 12 }, () => random.pick(WORDS)).join(' ')}.`,
  );
  filler.splice(random.between(0, lines), 0, `The pump opens at ${facts.pressure} bar.`);
  const path = `logs/${label}.txt`;
  // A passage that recall finds has to tell whose it is.
  const text = [`# ${label}`, `file: ${path}`, `serial: ${facts.serial}`, '', ...filler, ''].join('\n');
  return { path, bytes: Buffer.from(text) };
}
