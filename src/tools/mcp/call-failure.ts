/** Words what went wrong with an MCP server for the model: whether the call ran, and what to do. */
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { ToolError } from '../errors.ts';
import { isTooLarge } from './transport.ts';

const CONNECTION_CLOSED: number = ErrorCode.ConnectionClosed;

/** The server did not get the request. @param log the end of what it wrote to its standard error */
export function unavailable(server: string, error: unknown, log = ''): ToolError {
  const said = log === '' ? '' : ` It wrote: ${log}`;
  return new ToolError(
    'mcp_unavailable',
    `The MCP server ${server} could not be reached, so the call did not run: ${reasonOf(error)}.${said}`,
    { cause: error },
  );
}

/** @param ended the server's: why the connection is gone, when it is */
export function callFailure(server: string, error: unknown, ended: AbortSignal): ToolError {
  if (error instanceof ToolError && error.code !== 'mcp_result_invalid') return error;
  if (ended.aborted) return unknownOutcome(server, ended.reason);
  if (isTooLarge(error)) return invalidResult(server, 'it is larger than 10 MiB. Ask for less');
  if (error instanceof z.core.$ZodError || error instanceof SyntaxError) return invalidResult(server, reasonOf(error));
  if (error instanceof McpError && error.code === CONNECTION_CLOSED) return unknownOutcome(server, error);
  if (error instanceof McpError) return refused(server, error);
  const status = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) return refused(server, error);
  if (['ECONNREFUSED', 'ENOTFOUND'].includes(networkCode(error))) return unavailable(server, error);
  return unknownOutcome(server, error);
}

function refused(server: string, error: unknown): ToolError {
  return new ToolError('mcp_refused', `The MCP server ${server} refused the call: ${reasonOf(error)}`, {
    cause: error,
  });
}

function unknownOutcome(server: string, error: unknown): ToolError {
  return new ToolError(
    'outcome_unknown',
    `The MCP server ${server} was lost during the call (${reasonOf(error)}): it may have taken effect or not. Check before you make it again.`,
    { cause: error },
  );
}

function invalidResult(server: string, reason: string): ToolError {
  return new ToolError(
    'mcp_result_invalid',
    `The MCP server ${server} ran the call, and its result cannot be read: ${reason}.`,
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof z.core.$ZodError)
    return error.issues
      .map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join('; ')
      .slice(0, 300);
  const code = networkCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === '' ? message : `${message} (${code})`;
}

/** `ECONNREFUSED` …; empty when the network was not the reason. */
function networkCode(error: unknown): string {
  const cause: unknown = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
}
