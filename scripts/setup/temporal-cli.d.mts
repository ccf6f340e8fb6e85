export interface PinnedVersions {
  readonly node: string;
  readonly temporal: {
    readonly version: string;
    readonly minimumVersion: string;
    readonly pythonPackage: string;
    readonly binaries: Readonly<Record<string, { readonly sha256: string; readonly bytes: number }>>;
  };
}
export interface KnownProgram {
  readonly fingerprint: string;
  readonly version: string | null;
}
export interface FoundProgram {
  readonly path: string;
  readonly source: 'environment' | 'path' | 'cache';
}
export declare const versions: PinnedVersions;
export declare function cacheDirectories(environment?: NodeJS.ProcessEnv): string[];
export declare function cachedTemporalCli(directory: string): string;
export declare function isExecutableFile(path: string): boolean;
export declare function findOnPath(name: string, environment: NodeJS.ProcessEnv): string | null;
export declare function isAtLeast(version: string, minimum: string): boolean;
export declare function temporalCliVersion(path: string): string | null;
export declare function temporalOnPath(
  environment: NodeJS.ProcessEnv,
  known?: KnownProgram | null,
): (KnownProgram & { readonly path: string }) | null;
export declare function findTemporalCli(
  environment?: NodeJS.ProcessEnv,
  known?: KnownProgram | null,
): FoundProgram | null;
