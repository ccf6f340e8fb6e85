import type { AskedFact } from '../job.ts';
import { deepFigure } from './deep-figure.ts';
import { firstSentence } from './first-sentence.ts';

/**
 * Version, licence, first sentence and a deep figure of a package; `null` when one of them is missing
 * or open to doubt, so that the package is not asked for.
 * @param searched texts of all candidates, from `searchedText`
 */
export function packageFacts(manifest: string, readme: string, searched: string): readonly AskedFact[] | null {
  const version = plainValue(manifest, 'version');
  const licence = plainValue(manifest, 'license');
  const sentence = firstSentence(readme);
  if (version === null || licence === null || sentence === null) return null;
  const figure = deepFigure(readme, searched);
  if (figure === null) return null;
  return [
    { column: 'version', words: 'the value of "version" in package.json', value: version },
    { column: 'licence', words: 'the value of "license" in package.json', value: licence },
    { column: 'sentence', words: 'the first sentence of README.md', value: sentence },
    { column: 'figure', words: `the number after "${figure.anchor}" in README.md`, value: figure.value },
  ];
}

/** A string of the manifest, provided that its key stands there only once. */
function plainValue(manifest: string, key: string): string | null {
  if (manifest.split(`"${key}"`).length !== 2) return null;
  const parsed: unknown = JSON.parse(manifest);
  if (typeof parsed !== 'object' || parsed === null) return null;
  const value: unknown = Object.entries(parsed).find(([name]) => name === key)?.[1];
  return typeof value === 'string' && /^[^|"\\\n]{1,60}$/u.test(value) ? value : null;
}
