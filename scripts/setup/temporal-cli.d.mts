export interface PinnedVersions {
  readonly node: string;
  readonly temporal: {
    readonly version: string;
    readonly minimumVersion: string;
    readonly pythonPackage: string;
    readonly binaries: Readonly<Record<string, { readonly sha256: string; readonly bytes: number }>>;
  };
}
export declare const versions: PinnedVersions;
export declare function cacheDirectory(environment?: NodeJS.ProcessEnv): string;
export declare function cachedTemporalCli(environment?: NodeJS.ProcessEnv): string;
export declare function isExecutableFile(path: string): boolean;
export declare function findOnPath(name: string, environment: NodeJS.ProcessEnv): string | null;
export declare function isAtLeast(version: string, minimum: string): boolean;
export declare function temporalCliVersion(path: string): string | null;
export declare function findTemporalCli(
  environment?: NodeJS.ProcessEnv,
): { readonly path: string; readonly source: 'environment' | 'path' | 'cache' } | null;
