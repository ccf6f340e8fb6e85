export interface Change {
  readonly commit: string;
  readonly paths: readonly string[];
  readonly digest: string;
}
export declare function changedKeptHistories(root: string): {
  readonly changes: readonly Change[];
  readonly notice: string | null;
};
export declare function describeChanges(changes: readonly Change[]): string;
