import { readFileSync, readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { UsageError } from '../../../src/cli/usage-error.ts';
import type { AskedFact, Job, JobItem } from '../job.ts';
import { searchedText } from './deep-figure.ts';
import { mailFacts } from './mail-facts.ts';
import { textFacts } from './text-facts.ts';

/** Bytes of the largest file that is taken: the demo should end. */
const LARGEST_FILE = 1_000_000;

/**
 * A job over the user's own files: the e-mails of a folder, or else its texts.
 * @throws UsageError for a folder that does not exist or holds nothing to read
 */
export function directoryJob(directory: string): Job {
  const files = readTexts(directory);
  const mails = files.filter(({ path }) => extname(path).toLowerCase() === '.eml');
  const chosen = mails.length > 0 ? mails : files;
  const searched = searchedText(chosen.map(({ text }) => text));
  const factsOf: (text: string, searched: string) => readonly AskedFact[] = mails.length > 0 ? mailFacts : textFacts;
  const items = chosen.map(({ path, bytes, text }): JobItem => ({
    label: path,
    files: [{ path, bytes }],
    facts: factsOf(text, searched),
  }));
  const asked = items.filter((item) => item.facts.length > 0);
  if (asked.length === 0) {
    throw new UsageError(
      'usage',
      `${directory} holds no text file that a question could be asked about.`,
      'Name another folder with --files.',
    );
  }
  return mails.length > 0
    ? {
        noun: 'e-mail',
        description: 'e-mails as raw text',
        items: asked,
        remarks: ['Read what stands in the raw text; do not decode anything.'],
      }
    : {
        noun: 'file',
        description: 'text files',
        items: asked,
        remarks: ['First and last line mean the first and last that are not empty.'],
      };
}

interface TextFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly text: string;
}

function readTexts(directory: string): readonly TextFile[] {
  return pathsIn(directory).flatMap((name) => {
    const stat = statSync(join(directory, name));
    if (!stat.isFile() || stat.size === 0 || stat.size > LARGEST_FILE) return [];
    const bytes = readFileSync(join(directory, name));
    if (bytes.includes(0)) return [];
    // Names are listed in the task, where a space would end them.
    return [{ path: name.replaceAll(/[^\w./-]/gu, '_'), bytes, text: bytes.toString().replaceAll('\r\n', '\n') }];
  });
}

function pathsIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => !/(?:^|\/)(?:\.|node_modules\/)/u.test(path))
      .sort();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UsageError(
      'usage',
      `The folder ${directory} cannot be read (${code}).`,
      'Name a folder of texts or e-mails with --files.',
    );
  }
}
