import { describe, expect, it } from 'vitest';
import { checkReport, normalize } from '../../../dev/demo/check-report.ts';
import type { Job } from '../../../dev/demo/job.ts';

const job: Job = {
  noun: 'package',
  description: 'packages',
  remarks: [],
  items: ['hono', 'zod'].map((label) => ({
    label,
    files: [],
    facts: [
      { column: 'version', words: '', value: label === 'hono' ? '4.1.0' : '3.2.1' },
      { column: 'licence', words: '', value: 'MIT' },
      { column: 'sentence', words: '', value: `About [${label}](https://example.com) and \`a|b\`.` },
      { column: 'figure', words: '', value: '1,500' },
    ],
  })),
};

const HEAD = '| item | version | licence | sentence | figure |\n| --- | --- | --- | --- | --- |\n';
const HONO = '| hono | 4.1.0 | MIT | About [hono](https://example.com) and `a\\|b`. | 1,500 |\n';
const ZOD = '| zod | 3.2.1 | MIT | About [zod](https://example.com) and `a\\|b`. | 1,500 |\n';

describe('checkReport', () => {
  it('finds every cell right in a complete report', () => {
    expect(checkReport(job, `# Report\n\n${HEAD}${HONO}${ZOD}`)).toEqual({ right: 8, wrong: [], doubled: [] });
  });

  it('counts every fact as missing without a report', () => {
    const { right, wrong } = checkReport(job, null);
    expect(right).toBe(0);
    expect(wrong).toHaveLength(8);
    expect(wrong[0]).toEqual({ label: 'hono', column: 'version', expected: '4.1.0', found: null });
  });

  it('names each wrong cell with what stands there', () => {
    const { right, wrong } = checkReport(
      job,
      `${HEAD}${HONO.replace('4.1.0', '4.1.1')}${ZOD.replace('MIT', 'unknown')}`,
    );
    expect(right).toBe(6);
    expect(wrong.map(({ label, column, found }) => [label, column, found])).toEqual([
      ['hono', 'version', '4.1.1'],
      ['zod', 'licence', 'unknown'],
    ]);
  });

  it('does not take a value of one item for that of another', () => {
    const swapped = `${HEAD}${HONO.replace('4.1.0', '3.2.1')}${ZOD.replace('3.2.1', '4.1.0')}`;
    expect(checkReport(job, swapped).wrong).toHaveLength(2);
  });

  it('reads tables in parts, columns in another order, and License for licence', () => {
    const parts = `${HEAD}${HONO}\n\n| Package | License | Version | Figure | Sentence |\n|:--|--|--|--|--|\n| \`zod\` | MIT | 3.2.1 | 1500 | About zod and a\\|b |\n`;
    expect(checkReport(job, parts).right).toBe(8);
  });

  it('tells of an item that has two rows', () => {
    expect(checkReport(job, `${HEAD}${HONO}${ZOD}${HONO}`).doubled).toEqual(['hono']);
  });
});

describe('normalize', () => {
  it('keeps what makes two values different', () => {
    expect(normalize('1.5')).not.toBe(normalize('15'));
    expect(normalize('A thing')).not.toBe(normalize('A things'));
  });
});
