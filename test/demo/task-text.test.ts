import { describe, expect, it } from 'vitest';
import type { AskedFact, Job, JobItem } from '../../src/demo/job.ts';
import { taskText } from '../../src/demo/task-text.ts';

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
  it('asks shared facts once and a fact of its own with each item', () => {
    const text = taskText(job, { recall: true });
    expect(text).toContain('For each package, note:\n- version: the value of "version" in package.json\n');
    expect(text).toContain('- hono: hono/package.json, hono/README.md; figure: the number after "up to"\n');
    expect(text).toContain('- zod: zod/package.json, zod/README.md; figure: the number after "at most"\n');
    expect(text).toContain('columns item, version, figure');
    expect(text).toContain('Paths are relative.');
  });

  it('speaks of recall only to an agent that has it', () => {
    expect(taskText(job, { recall: true })).toContain('recall_search');
    expect(taskText(job, { recall: false })).not.toContain('recall');
  });

  it('holds no value that is asked for', () => {
    expect(taskText(job, { recall: true })).not.toContain('1.0.0');
  });
});
