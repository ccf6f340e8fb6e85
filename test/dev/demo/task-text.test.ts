import { describe, expect, it } from 'vitest';
import type { AskedFact, Job, JobItem } from '../../../dev/demo/job.ts';
import { instructionsText, taskText } from '../../../dev/demo/task-text.ts';

const shared: AskedFact = { column: 'version', words: 'the value of "version" in package.json', value: '1.0.0' };

function item(label: string, own: string): JobItem {
  return {
    label,
    files: [
      { path: `${label}/package.json`, bytes: new Uint8Array() },
      { path: `${label}/README.md`, bytes: new Uint8Array() },
    ],
    facts: [shared, { column: 'figure', words: `the number after "${own}"`, value: '7' }],
  };
}

const job: Job = {
  noun: 'package',
  description: 'installed packages',
  items: [item('hono', 'up to'), item('zod', 'at most')],
  remarks: ['Paths are relative.'],
};

describe('taskText', () => {
  it('asks a fact of its own with each item', () => {
    const text = taskText(job, { recall: true });
    expect(text).toContain('- hono: hono/package.json, hono/README.md; figure: the number after "up to"\n');
    expect(text).toContain('- zod: zod/package.json, zod/README.md; figure: the number after "at most"\n');
    expect(text).toContain('columns item, version, figure');
  });

  it('speaks of recall only to an agent that has it', () => {
    expect(taskText(job, { recall: true })).toContain('recall_search');
    expect(taskText(job, { recall: false })).not.toContain('recall');
  });

  it('holds no value that is asked for', () => {
    expect(taskText(job, { recall: true })).not.toContain('1.0.0');
  });
});

describe('instructionsText', () => {
  it('asks what all items are asked, also when one of them is not checked', () => {
    const [hono, zod] = job.items;
    const doubtful = { ...job, items: [hono!, zod!, { ...item('x', 'at all'), facts: [] }] };
    for (const each of [job, doubtful]) {
      const text = instructionsText(each);
      expect(text).toContain('For each package, note:\n- version: the value of "version" in package.json\n');
      expect(text).toContain('- figure: what is asked in the line of the package');
      expect(text).toContain('Paths are relative.');
    }
  });

  it('is short enough to be quoted whole to a summarizing model', () => {
    expect(instructionsText(job).length).toBeLessThan(2_000);
  });
});
