import { createHash } from 'node:crypto';
import { CallToolResultSchema, ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Tool, CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { attachedText, isReadAsText } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { defineTool } from '../define-tool.ts';
import { ToolError } from '../errors.ts';
import { countPages, isPdf, measurePicture } from '../runtime/media.ts';
import type { ToolContext, ToolDefinition, ToolEffect, ToolResult } from '../tool.ts';
import { START_MILLISECONDS } from './connection.ts';
import type { McpConnection } from './connection.ts';
import type { McpServer } from './transport.ts';

/** Characters that a tool may take to describe itself and its input: they stand in every request. */
const LONGEST_DESCRIPTION = 50_000;
/** A server that names page after page would be read for ever. */
const MOST_PAGES = 50;
const LONGEST_NAME = 64;

/**
 * The tools of a server as it lists them now. The list is read once: a server that changes it later refuses what it has no more.
 * @throws ToolError, ToolDefinitionError
 */
export async function listMcpTools(server: McpServer, connection: McpConnection): Promise<readonly ToolDefinition[]> {
  const listed = new Map<string, Tool>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const signal = AbortSignal.timeout(START_MILLISECONDS);
    const params = cursor === undefined ? {} : { cursor };
    const found = await connection.request({ method: 'tools/list', params }, ListToolsResultSchema, { signal });
    for (const tool of found.tools) {
      if (listed.has(tool.name)) throw wrongList(server, `it lists the tool ${tool.name} twice`);
      listed.set(tool.name, tool);
    }
    cursor = found.nextCursor;
    if (cursor === undefined) {
      const other = [...server.effects.keys()].find((name) => !listed.has(name));
      if (other !== undefined) throw wrongList(server, `\`effects\` names the tool ${other}, which it does not list`);
      return [...listed.values()].map((tool) => toDefinition(server, connection, tool));
    }
  }
  throw wrongList(server, `it lists its tools on more than ${MOST_PAGES} pages`);
}

/** `server__tool`. What providers refuse as a name ends in a fingerprint of the server's own. */
export function mcpToolName(server: string, tool: string): string {
  const whole = `${server}__${tool}`;
  if (whole.length <= LONGEST_NAME && /^[A-Za-z0-9_-]+$/.test(whole)) return whole;
  const fingerprint = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${whole.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST_NAME - 9)}_${fingerprint}`;
}

function toDefinition(server: McpServer, connection: McpConnection, tool: Tool): ToolDefinition {
  const description =
    [tool.description, tool.title, tool.name].find((text) => text !== undefined && text.trim() !== '') ?? '';
  const size = description.length + JSON.stringify(tool.inputSchema).length;
  if (size > LONGEST_DESCRIPTION) {
    throw wrongList(
      server,
      `its tool ${tool.name} takes ${size} characters to describe, and at most ${LONGEST_DESCRIPTION} fit`,
    );
  }
  const effect = server.effects.get(tool.name) ?? effectOf(tool);
  return defineTool({
    name: mcpToolName(server.name, tool.name),
    description,
    input: inputOf(tool),
    effect,
    exclusive: effect === 'once',
    timeout: server.timeoutMilliseconds,
    run: (input, context) => callTool(connection, { name: tool.name, input, effect }, context),
  });
}

function effectOf({ annotations }: Tool): ToolEffect {
  if (annotations?.readOnlyHint === true) return 'none';
  return annotations?.idempotentHint === true ? 'idempotent' : 'once';
}

/** The server checks its arguments itself; to the model its schema is shown as it is. */
function inputOf({ inputSchema }: Tool): z.ZodObject {
  const { properties = {}, required, additionalProperties = true, $defs, definitions } = inputSchema;
  const shown = { properties, required, additionalProperties, $defs, definitions };
  return z.looseObject({}).meta(Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)));
}

async function callTool(
  connection: McpConnection,
  call: { readonly name: string; readonly input: Record<string, unknown>; readonly effect: ToolEffect },
  { signal, requireClaim, idempotencyKey }: ToolContext,
): Promise<ToolResult> {
  if (call.effect !== 'none') await requireClaim();
  const params = { name: call.name, arguments: call.input, _meta: { 'holdfast/idempotency-key': idempotencyKey } };
  const result = await connection.request({ method: 'tools/call', params }, CallToolResultSchema, {
    signal,
    // The signal ends the call: it knows the time limit of the tool.
    timeout: 2_147_483_647,
  });
  return { content: contentOf(result), isError: result.isError === true };
}

function wrongList({ name }: McpServer, problem: string): ToolError {
  return new ToolError('mcp_result_invalid', `The tools of the MCP server ${name} cannot be used: ${problem}.`);
}

type Block = CallToolResult['content'][number];

/** The content of a result as parts. Structured content counts where a server gives no text of it. */
export function contentOf({ content, structuredContent }: CallToolResult): readonly ContentPart[] {
  const parts = content.map(toPart);
  const hasText = parts.some((part) => part.type === 'text');
  return structuredContent === undefined || hasText ? parts : [textPart(JSON.stringify(structuredContent)), ...parts];
}

function toPart(block: Block): ContentPart {
  switch (block.type) {
    case 'text':
      return textPart(block.text);
    case 'image':
      return mediaPart('image', block.mimeType, block.data);
    case 'audio':
      return mediaPart('audio', block.mimeType, block.data);
    case 'resource_link':
      return textPart(`[resource ${block.name}: ${block.uri}${block.description ? `, ${block.description}` : ''}]`);
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream' } = block.resource;
      return 'text' in block.resource
        ? textPart(attachedText(uri, block.resource.text))
        : mediaPart(uri, mimeType, block.resource.blob);
    }
  }
}

/** What the bytes are counts, not what the server says of them. */
function mediaPart(name: string, mediaType: string, data: string): ContentPart {
  const bytes = Buffer.from(data, 'base64');
  const picture = measurePicture(bytes);
  if (picture !== undefined) return { type: 'image', ...picture, data };
  if (isPdf(bytes)) return { type: 'file', mediaType: 'application/pdf', name, data, pages: countPages(bytes) };
  if (isReadAsText(mediaType)) return textPart(attachedText(name, bytes.toString('utf8')));
  return textPart(`[${name} of type ${mediaType}, ${bytes.length} bytes: not shown, because models do not read it]`);
}

function textPart(text: string): ContentPart {
  return { type: 'text', text };
}
