/** An MCP server as configured, with what it needs at hand. */
export interface McpServer {
  /** Letters, digits and single `_` or `-`: the beginning of its tools' names. */
  readonly name: string;
  readonly address: McpProgram | McpAddress;
  /** Longest duration of one call, in milliseconds. */
  readonly timeoutMilliseconds: number;
}

/** A program that is started and spoken to over its standard input and output. */
export interface McpProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Nothing else of the worker's environment is passed on but what the SDK always does: PATH, HOME, USER, LOGNAME, SHELL and TERM. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path. */
  readonly directory: string;
}

/** A server that is spoken to over streamable HTTP. */
export interface McpAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Read for each request, so that a key is changed without a restart. `null`: the server wants none. */
  readonly key: (() => Promise<string>) | null;
}
