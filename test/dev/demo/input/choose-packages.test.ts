import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { choosePackages, inputBytesFor, packageCountFor } from '../../../../dev/demo/input/choose-packages.ts';
import type { PackageCandidate } from '../../../../dev/demo/input/choose-packages.ts';
import { packageJob } from '../../../../dev/demo/input/installed-packages.ts';
import { byteCount, factCount, filesOf } from '../../../../dev/demo/job.ts';

const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

/** Of a window of 32k and more. */
const PACKAGE_COUNT = 41;

function candidate(number: number, bytes: number, further = 0): PackageCandidate {
  const name = `package-${String(number).padStart(3, '0')}`;
  const file = (path: string) => ({ path: `${name}/${path}`, bytes: new Uint8Array(bytes) });
  return {
    item: { label: name, files: [file('README.md')], facts: [] },
    furtherFiles: () => Array.from({ length: further }, (_, index) => file(`further-${index}.md`)),
  };
}

describe('choosePackages', () => {
  it('takes neighbours in size, the smallest that are large enough together', () => {
    const sizes = Array.from({ length: 80 }, (_, index) => 300 * (index + 1));
    const chosen = choosePackages(sizes.map((bytes, index) => candidate(index, bytes)).reverse(), 32 * 1_024);
    const total = (first: number): number =>
      sizes.slice(first, first + PACKAGE_COUNT).reduce((sum, bytes) => sum + bytes, 0);
    const wanted = inputBytesFor(32 * 1_024);
    const first = sizes.findIndex((_, index) => total(index) >= wanted);
    const names = chosen.map((item) => item.label);
    expect(first).toBeGreaterThan(0);
    expect(names).toEqual(
      sizes.slice(first, first + PACKAGE_COUNT).map((_, index) => candidate(first + index, 1).item.label),
    );
  });

  it('adds further files, one of each package in turn, when all together are too small', () => {
    const candidates = Array.from({ length: 50 }, (_, index) => candidate(index, 4_000, 3));
    const chosen = choosePackages(candidates, 32 * 1_024);
    const counts = chosen.map((item) => item.files.length);
    expect(byteCount(chosen.flatMap((item) => item.files))).toBeGreaterThanOrEqual(inputBytesFor(32 * 1_024));
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });
});

describe('packageJob', () => {
  it.each([
    [8, 5],
    [32, 41],
    [200, 41],
  ])('for a window of %ik reads %i packages that exceed it at least three times', (size, count) => {
    const window = size * 1_024;
    expect(packageCountFor(window)).toBe(count);
    const job = packageJob(MODULES, window);
    const bytes = byteCount(filesOf(job));
    expect(job.items).toHaveLength(count);
    expect(factCount(job)).toBe(count * 4);
    expect(bytes).toBeGreaterThanOrEqual(300 * 1_024);
    expect(bytes / 4).toBeGreaterThan(3 * window);
  });

  it('asks for the same each time', () => {
    const outline = (): unknown => packageJob(MODULES, 32 * 1_024).items.map(({ label, facts }) => ({ label, facts }));
    expect(outline()).toEqual(outline());
  });

  it('asks for each figure by words that stand in no other file', () => {
    const job = packageJob(MODULES, 32 * 1_024);
    const texts = filesOf(job).map((file) => Buffer.from(file.bytes).toString());
    const figures = job.items.flatMap((item) => item.facts.filter((fact) => fact.column === 'figure'));
    for (const { words } of figures) {
      const anchor = /"(.*)"/u.exec(words)?.[1] ?? '';
      expect(texts.filter((text) => text.includes(anchor))).toHaveLength(1);
    }
  });
});
