import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/cli/usage-error.ts';
import { directoryJob } from '../../../../dev/demo/input/directory-job.ts';
import type { Job } from '../../../../dev/demo/job.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-files-'));
});

afterEach(async () => rm(directory, { recursive: true, force: true }));

const filler = (lines: number): string => 'words without any number here\n'.repeat(lines);

function factsOf(job: Job, label: string): Record<string, string> {
  const facts = job.items.find((item) => item.label === label)?.facts ?? [];
  return Object.fromEntries(facts.map((fact) => [fact.column, fact.value]));
}

describe('directoryJob', () => {
  it('asks of e-mails what stands in the raw text on one line', async () => {
    const body = `${filler(10)}the order holds 375 pieces\n${filler(4)}`;
    await writeFile(
      join(directory, 'a.eml'),
      `From: shop@example.com\nSubject: Your order\nDate: Mon, 2 Mar 2026\n\n${body}`,
    );
    await writeFile(
      join(directory, 'b.eml'),
      `From: a@example.com\nSubject: =?utf-8?q?Caf=C3=A9?=\nDate: Tue, 3 Mar 2026\n\nHello`,
    );
    await writeFile(
      join(directory, 'c.eml'),
      `From: b@example.com\nSubject: long\n subject\nDate: Tue, 3 Mar 2026\n\nHello`,
    );
    await writeFile(join(directory, 'notes.txt'), 'not asked for beside e-mails');
    const job = directoryJob(directory);
    expect(job.items.map((item) => item.label)).toEqual(['a.eml', 'b.eml', 'c.eml']);
    expect(factsOf(job, 'a.eml')).toEqual({
      subject: 'Your order',
      date: 'Mon, 2 Mar 2026',
      sender: 'shop@example.com',
      figure: '375',
    });
    expect(Object.keys(factsOf(job, 'b.eml'))).toEqual(['date', 'sender']);
    expect(Object.keys(factsOf(job, 'c.eml'))).toEqual(['date', 'sender']);
  });

  it('asks of other texts their first and last lines and a figure, in folders below too', async () => {
    await mkdir(join(directory, 'deep/er'), { recursive: true });
    await writeFile(
      join(directory, 'deep/er/a b.txt'),
      `\nTitle\n${filler(10)}the book has 314 pages\n${filler(4)}The end\n`,
    );
    const job = directoryJob(directory);
    expect(factsOf(job, 'deep/er/a_b.txt')).toEqual({ 'first line': 'Title', 'last line': 'The end', figure: '314' });
  });

  it('leaves out hidden, empty and binary files', async () => {
    await writeFile(join(directory, '.hidden'), 'some text');
    await writeFile(join(directory, 'empty.txt'), '');
    await writeFile(join(directory, 'binary.bin'), Buffer.from([1, 0, 2]));
    await writeFile(join(directory, 'text.txt'), 'some text');
    expect(directoryJob(directory).items.map((item) => item.label)).toEqual(['text.txt']);
  });

  it('says what to do about a folder that is missing or holds nothing to ask about', () => {
    expect(() => directoryJob(directory)).toThrow(UsageError);
    expect(() => directoryJob(join(directory, 'missing'))).toThrow(/missing cannot be read \(ENOENT\)/u);
  });
});
