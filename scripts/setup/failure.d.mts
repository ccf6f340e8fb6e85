export declare class SetupFailure extends Error {
  readonly next: string;
}
export declare function explainFileError(error: unknown, doing: string): Error;
export declare function explainOutput(output: string, doing: string): SetupFailure | null;
