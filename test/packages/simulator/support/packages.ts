/** Packages with a manifest and a README each, long enough for two pages, with a figure deep in it. */
export interface PackageFacts {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly sentence: string;
  readonly figure: string;
}

export function packageFacts(count: number): readonly PackageFacts[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `library-${index + 1}`,
    version: `${index}.${index * 3}.1`,
    licence: index % 3 === 0 ? 'Apache-2.0' : 'MIT',
    sentence: `Library ${index + 1} does things | for v${index}.x users.`,
    figure: String(1000 + index * 37),
  }));
}

export function packageFiles(facts: readonly PackageFacts[], readmeLines = 60): Record<string, string> {
  const files: Record<string, string> = {};
  for (const fact of facts) {
    const manifest = {
      name: fact.name,
      version: fact.version,
      license: fact.licence,
      dependencies: { other: '1.0.0' },
      version2: 'no',
    };
    files[`packages/${fact.name}/package.json`] = JSON.stringify(manifest, null, 2);
    const filler = Array.from(
      { length: readmeLines },
      (_, line) => `Paragraph ${line} of ${fact.name} says nothing of interest.`,
    );
    const deep = [`Measured on 2 cores: it handled ${fact.figure} requests per second.`];
    files[`packages/${fact.name}/README.md`] = [
      `# ${fact.name}`,
      '',
      '[![badge](https://example.org/b.svg)](https://example.org)',
      '',
      ...wrap(fact.sentence),
      'Another sentence follows.',
      '',
      ...filler,
      ...deep,
      'The end.',
    ].join('\n');
  }
  return files;
}

/** The sentence over two lines. */
function wrap(sentence: string): string[] {
  const space = sentence.indexOf(' ', 10);
  return [sentence.slice(0, space), sentence.slice(space + 1)];
}

export function packageTask(facts: readonly PackageFacts[]): string {
  const items = facts.map(
    (fact, index) => `${index + 1}. ${fact.name}: packages/${fact.name}/package.json, packages/${fact.name}/README.md`,
  );
  return `Read the files of these packages one by one, each to its end, and write the report to report.md: a table with one row per package.

${items.join('\n')}

For each package, note:
- version: the value of "version" in package.json
- licence: the value of "license" in package.json
- introduction: the first sentence of the README
- speed: the number before "requests per second" in the README

Do not guess: write "unknown" where you do not know.`;
}

export function expectedRows(facts: readonly PackageFacts[]): string[][] {
  return facts.map((fact) => [fact.name, fact.version, fact.licence, fact.sentence, fact.figure]);
}
