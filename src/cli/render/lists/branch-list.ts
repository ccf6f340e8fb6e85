import type { BranchRow as Branch } from '../../../store/conversations/branches.ts';
import { plural } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { truncate } from '../text/text-width.ts';

const PIPE_COLUMNS = 160;
/** Just forked, with a summary at most; or its first message is an image alone. */
const UNTITLED = 'nothing said in words yet';

export function branchListLines(
  branches: readonly Branch[],
  { columns, style }: { readonly columns: number | null; readonly style: Style },
): string[] {
  return branches.map((branch) => {
    const began =
      branch.branch === 0
        ? 'the first'
        : branch.forkedFrom === null
          ? 'from the start'
          : `from branch ${branch.forkedFrom} after entry ${branch.forkedAtSequence ?? 0}`;
    const line = `${branch.active ? '*' : ' '} ${String(branch.branch).padStart(3)}  ${began}  ${plural(branch.entries, 'entry', 'entries')}  ${branch.title === '' ? UNTITLED : safeLine(branch.title)}`;
    const shown = truncate(line, columns ?? PIPE_COLUMNS);
    return branch.active ? style.bold(shown) : shown;
  });
}
