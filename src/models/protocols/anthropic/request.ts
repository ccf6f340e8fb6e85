import type Anthropic from '@anthropic-ai/sdk';
import { VENDOR_BLOCK } from '../../../context/log/content.ts';
import type { ThinkingPart } from '../../../context/log/content.ts';
import { isRecord, parseJson } from '../json.ts';
import { IMAGE_TYPES } from '../fit-images.ts';
import type { View } from '../../../context/view/view.ts';
import type { ModelRequest } from '../../model-client.ts';
import type { ProviderDefinition } from '../../provider.ts';
import { repairText, sendableArguments } from '../call-repairs.ts';
import { anthropicFields } from '../request-fields.ts';
import { sendableMessages, sendableRequest } from '../sendable-view.ts';
import type { SendableMessage, SendablePart, SendableResult, VendorRules } from '../sendable-view.ts';
import { ANTHROPIC_CALL_IDS } from '../tool-names.ts';

/** Anthropic reads the cache back over 20 blocks only, so the mark of the last request is set again: on the last two user messages. */
const MARKED_MESSAGES = 2;

type Marked = { cache_control?: Anthropic.CacheControlEphemeral | null };

/**
 * A request of the Messages API. The four cache marks stand on the system prompt, the last two user messages, and what a
 * compaction leaves before its summary, else the last tool. Keys that change from call to call stand last, so that request n
 * is a byte prefix of request n + 1 but for the marks.
 */
export function anthropicRequest(
  request: ModelRequest,
  options: { readonly provider: string; readonly thinking: boolean },
): Anthropic.MessageCreateParamsStreaming {
  const rules: VendorRules = { ...options, callIds: ANTHROPIC_CALL_IDS, pdf: true };
  const sendable = sendableRequest(request.view, rules);
  const { system } = sendable;
  const tools = sendable.tools.map(({ name, description, schema }): Anthropic.Tool => ({
    name,
    description,
    input_schema: schema,
  }));
  const messages = toMessages(sendable.messages, request.options?.citations === true);
  const cacheMark: Anthropic.CacheControlEphemeral = {
    type: 'ephemeral',
    ...(request.options?.cacheLifetime === '1h' ? { ttl: '1h' } : {}),
  };
  const mark = (block: Marked | undefined): void => {
    if (block !== undefined) block.cache_control = cacheMark;
  };
  mark(lastBeforeSummary(request.view, messages, rules) ?? tools.at(-1));
  const ofUser = messages.filter((message) => message.role === 'user');
  // Counters of the turn differ in the next request: the mark stands before them.
  const newest = request.view.messages.at(-1);
  const lastStable = newest?.role === 'user' && newest.origin === 'runtime' ? -2 : -1;
  for (const message of ofUser.slice(-MARKED_MESSAGES)) {
    mark(message.content.at(message === ofUser.at(-1) ? lastStable : -1));
  }
  return {
    model: request.model,
    stream: true,
    ...anthropicFields(request),
    ...(tools.length === 0 ? {} : { tools }),
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, cache_control: cacheMark }] }),
    messages,
    max_tokens: request.maximumOutput,
  };
}

/** What the user said before a summary stays when the next compaction writes another one. */
function lastBeforeSummary(view: View, messages: readonly Message[], rules: VendorRules): Marked | undefined {
  const summary = view.messages.findIndex((message) => message.role === 'user' && message.origin === 'summary');
  const before = view.messages.slice(0, Math.max(0, summary));
  if (before.length === 0 || before.some(({ role }) => role !== 'user')) return undefined;
  const [said] = sendableMessages({ messages: before }, rules);
  const [first] = messages;
  return said?.role === 'user' && first?.role === 'user' ? first.content[said.content.length - 1] : undefined;
}

/** Claude takes the form of an answer from 4.5 on; servers that speak Anthropic's protocol leave it out in silence. */
export function takesOutputFormat({ baseUrl, hosting }: ProviderDefinition, model: string): boolean {
  const isAnthropic = hosting !== undefined || /^https?:\/\/[^/]*\banthropic\.com\b/.test(baseUrl);
  return isAnthropic && !/claude-(?:[123]|instant|(?:opus|sonnet)-4(?:-[01]\b|-2025|@|$))/.test(model);
}

type UserBlock =
  | Anthropic.TextBlockParam
  | Anthropic.ImageBlockParam
  | Anthropic.DocumentBlockParam
  | Anthropic.ToolResultBlockParam;

type Message = { role: 'user'; content: UserBlock[] } | { role: 'assistant'; content: Anthropic.ContentBlockParam[] };

/** Results and what the user says next are one user message, results first. */
function toMessages(messages: readonly SendableMessage[], citations: boolean): Message[] {
  const block = (part: SendablePart): UserBlock => toBlock(part, citations);
  const sent: Message[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'assistant':
        sent.push({ role: 'assistant', content: assistantBlocks(message) });
        break;
      case 'user':
        appendToUser(sent, message.content.map(block));
        break;
      case 'tool_results':
        appendToUser(
          sent,
          message.results.map((result) => resultBlock(result, citations)),
        );
        break;
    }
  }
  return sent;
}

function resultBlock(result: SendableResult, citations: boolean): Anthropic.ToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: result.id,
    ...(result.content.length === 0 ? {} : { content: result.content.map((part) => toBlock(part, citations)) }),
    ...(result.isError ? { is_error: true } : {}),
  };
}

function appendToUser(sent: Message[], blocks: UserBlock[]): void {
  const last = sent.at(-1);
  if (last?.role === 'user') last.content.push(...blocks);
  else sent.push({ role: 'user', content: blocks });
}

function assistantBlocks(message: Extract<SendableMessage, { role: 'assistant' }>): Anthropic.ContentBlockParam[] {
  return message.content.flatMap((part): Anthropic.ContentBlockParam[] => {
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text }];
      case 'thinking':
        return thinkingBlock(part);
      case 'tool_call':
        return [{ type: 'tool_use', id: part.id, name: part.name, input: sendableArguments(part.arguments).value }];
    }
  });
}

/** Thinking goes back byte for byte or not at all; without a signature it was cut off while it streamed. */
function thinkingBlock(part: ThinkingPart): Anthropic.ContentBlockParam[] {
  if (part.signature === VENDOR_BLOCK) {
    const block = parseJson(part.encrypted ?? '');
    return isBlock(block) ? [block] : [];
  }
  if (part.encrypted !== undefined) return [{ type: 'redacted_thinking', data: part.encrypted }];
  if (part.signature === undefined) return [];
  return [{ type: 'thinking', thinking: part.text, signature: part.signature }];
}

/** As Anthropic gave it, of whatever type. */
function isBlock(value: unknown): value is Anthropic.ContentBlockParam {
  return isRecord(value) && typeof value['type'] === 'string';
}

function toBlock(
  part: SendablePart,
  citations: boolean,
): Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return {
        type: 'image',
        source: { type: 'base64', media_type: imageType(part.mediaType), data: part.data },
      };
    case 'file':
      return {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: part.data },
        title: repairText(part.name),
        ...(citations ? { citations: { enabled: true } } : {}),
      };
  }
}

function imageType(mediaType: string): (typeof IMAGE_TYPES)[number] {
  // The sendable view holds no other type.
  return IMAGE_TYPES.find((type) => type === mediaType) ?? 'image/png';
}
