export interface Change {
  readonly commit: string;
  readonly paths: readonly string[];
  readonly digest: string;
}
export interface KeptHistoriesFound {
  readonly changes: readonly Change[];
  readonly notice: string | null;
}
export declare function changedKeptHistories(root: string, options?: { readonly deepen?: boolean }): KeptHistoriesFound;
export declare function describeChanges(changes: readonly Change[]): string;
