export interface Change {
  readonly commit: string;
  readonly paths: readonly string[];
  readonly digest: string;
}
export interface KeptHistoriesFound {
  readonly changes: readonly Change[];
  readonly notice: string | null;
  readonly isShallow: boolean;
}
export declare function changedKeptHistories(root: string): KeptHistoriesFound;
export declare function judgeKeptHistories(
  found: KeptHistoriesFound,
  options: { readonly mustJudge: boolean },
): { readonly failure: string | null; readonly note: string | null };
export declare function describeChanges(changes: readonly Change[]): string;
