/** A tool is declared wrongly or does not exist. Thrown when the worker starts or a turn begins, never by a call. */
export class ToolDefinitionError extends Error {
  override readonly name = 'ToolDefinitionError';
  readonly code = 'tool_definition_invalid';
}

export type ToolErrorCode =
  /** The path leads out of the workspace or has a form that is refused. */
  | 'path_refused'
  /** Holdfast's own files, files with keys, and what git runs. */
  | 'protected'
  | 'not_found'
  | 'wrong_kind'
  | 'not_text'
  | 'too_large'
  | 'no_permission'
  /** The input has the right shape, but makes no sense here: an offset after the end, a text that occurs twice. */
  | 'input_refused'
  | 'unsupported'
  | 'file_system'
  | 'call_over'
  /** The tool was told to act, and nobody knows whether it did. */
  | 'outcome_unknown'
  /** An MCP server could not be reached: the call did not run. */
  | 'mcp_unavailable'
  /** An MCP server answered the call with an error. */
  | 'mcp_refused'
  /** An MCP server answered with what is no result of a tool, or with too much. */
  | 'mcp_result_invalid'
  | 'not_in_a_turn';

/** A failure that a tool foresees. Its message is written for the model: what is wrong and what to do instead. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: ToolErrorCode;

  constructor(code: ToolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The `code` of a Node error (`ENOENT` …), or `null` for anything else. */
export function systemErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/**
 * Words a file system error for the model. Node's own message is not passed on, because it names
 * absolute paths of the machine.
 */
export function fileError(error: unknown, path: string): ToolError {
  if (error instanceof ToolError) return error;
  const code = systemErrorCode(error) ?? 'an unknown error';
  const options = { cause: error };
  switch (code) {
    case 'ENOENT':
      return new ToolError('not_found', `${path} does not exist. list_files shows what is there.`, options);
    case 'ENOTDIR':
      return new ToolError('wrong_kind', `A part of ${path} is a file, not a directory.`, options);
    case 'EISDIR':
      return new ToolError('wrong_kind', `${path} is a directory. list_files shows what is in it.`, options);
    case 'EACCES':
    case 'EPERM':
      return new ToolError('no_permission', `No permission for ${path}.`, options);
    case 'ENAMETOOLONG':
      return new ToolError('path_refused', 'The path, or a name in it, is too long for the file system.', options);
    case 'ELOOP':
      return new ToolError('path_refused', `${path} goes through a symbolic link that cannot be followed.`, options);
    case 'ENOSPC':
    case 'EDQUOT':
      return new ToolError('file_system', `No space left on the device for ${path}. Nothing was changed.`, options);
    case 'EROFS':
      return new ToolError('no_permission', `${path} lies on a read-only file system.`, options);
    default:
      return new ToolError('file_system', `${path}: the file system answered ${code}.`, options);
  }
}
