/** How a line names what was said on a branch that was left; nothing for what is on the active one. */
export function leftBranchText(branch: number | undefined): string {
  return branch === undefined ? '' : ` · on branch ${branch}, which was left`;
}
