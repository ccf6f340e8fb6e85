import { expect, test } from 'vitest';
import { branchListLines } from '../../../../src/cli/render/lists/branch-list.ts';
import { PLAIN_STYLE } from '../../../../src/cli/render/text/style.ts';
import type { BranchRow as Branch } from '../../../../src/store/conversations/branches.ts';

const first: Branch = {
  branch: 0,
  active: false,
  forkedFrom: null,
  forkedAtSequence: null,
  entries: 4,
  headEntryId: '01981f3c-5a2e-7d10-8c44-9b1f4f1c22ab',
  title: 'Read the files',
  activeAt: '2026-03-05T10:00:00.000Z',
};

test('each branch has its title, or says that it has none, with where it began', () => {
  const branches: Branch[] = [
    first,
    { ...first, branch: 1, active: true, forkedFrom: 0, forkedAtSequence: 2, entries: 0, title: '' },
    { ...first, branch: 2, entries: 1, title: '' },
  ];
  expect(branchListLines(branches, { columns: null, style: PLAIN_STYLE })).toEqual([
    '    0  the first  4 entries  Read the files',
    '*   1  from branch 0 after entry 2  0 entries  nothing said in words yet',
    '    2  from the start  1 entry  nothing said in words yet',
  ]);
});
