export interface LockOwner {
  readonly processId: number;
  readonly start: string | null;
  readonly host: string;
}
export interface Lock {
  release(): void;
}
export declare function processStart(processId: number): string | null;
export declare function lockHolder(path: string): LockOwner | null;
export declare function tryLock(path: string): Lock | null;
export declare function waitForLock(path: string, onWait?: (holder: number) => void): Promise<Lock>;
