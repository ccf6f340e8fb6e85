import { attachedText, isReadAsText, VENDOR_BLOCK } from '../../context/log/content.ts';
import type {
  ContentPart,
  FilePart,
  ImagePart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
} from '../../context/log/content.ts';
import { earlierResult } from '../../context/view/notes.ts';
import { nameText } from '../../context/log/frames.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';
import { IMAGE_TYPES } from './fit-images.ts';
import { repairText, sendableArguments } from './call-repairs.ts';
import { createCallIdMapping, vendorToolName, type ToolCallIdRule } from './tool-names.ts';
import { sendableSchema } from './tool-schema.ts';

/** What a vendor's requests may carry. */
export interface VendorRules {
  /** Provider name; thinking made by another one is left out. */
  readonly provider: string;
  readonly callIds: ToolCallIdRule;
  /** Whether PDF files are accepted. */
  readonly pdf: boolean;
  /** False after the vendor refused the thinking that it was sent (its proof no longer fits the messages before it). */
  readonly thinking: boolean;
}

export type SendablePart = TextPart | ImagePart | FilePart;

export interface SendableResult {
  readonly id: string;
  readonly name: string;
  readonly isError: boolean;
  readonly content: readonly SendablePart[];
}

/**
 * A view in the shape that all vendors agree on: begins and ends with the user's side, no empty
 * message, no two user messages in a row, every assistant message with tool calls followed at once
 * by exactly one result per call in call order, ids accepted and unique, arguments a JSON object.
 */
export type SendableMessage =
  | { readonly role: 'user'; readonly content: readonly SendablePart[] }
  | { readonly role: 'assistant'; readonly content: readonly (TextPart | ThinkingPart | ToolCallPart)[] }
  | { readonly role: 'tool_results'; readonly results: readonly SendableResult[] };

/** A tool in words that all vendors accept. */
export interface SendableTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Record<string, unknown> & { type: 'object' };
}

/** What all protocols write of a request, each in its own form. */
export function sendableRequest({ system, tools, ...view }: View, rules: VendorRules) {
  return {
    /** Empty: there is none. */
    system: system.trim() === '' ? '' : repairText(system),
    tools: tools.map(({ name, description, inputSchema }): SendableTool => ({
      name: vendorToolName(name),
      description: repairText(description),
      schema: sendableSchema(inputSchema),
    })),
    messages: sendableMessages(view, rules),
  };
}

export function dataUrl({ mediaType, data }: ImagePart | FilePart): string {
  return `data:${mediaType};base64,${data}`;
}

/** A file in both protocols of OpenAI. */
export function fileFields(part: FilePart): { readonly filename: string; readonly file_data: string } {
  return { filename: repairText(part.name), file_data: dataUrl(part) };
}

type ToolResults = Extract<ViewMessage, { role: 'tool_results' }>['results'];

const NO_RESULT = 'No result of this tool call is known. It may or may not have taken effect.';
const BEGINNING = '(The beginning of the conversation is not shown.)';
const CONTINUE = 'Continue.';

/** Brings a view into the shape that every vendor accepts. Never throws; what cannot be sent becomes a text that says so. */
export function sendableMessages(view: Pick<View, 'messages'>, rules: VendorRules): readonly SendableMessage[] {
  const mapId = createCallIdMapping(rules.callIds);
  const messages: SendableMessage[] = [];
  for (const [position, message] of view.messages.entries()) {
    switch (message.role) {
      case 'user':
        appendUser(messages, sendableParts(message.content, rules));
        break;
      case 'assistant': {
        const next = view.messages[position + 1];
        appendGroup(messages, message.content, next?.role === 'tool_results' ? next.results : [], mapId, rules);
        break;
      }
      case 'tool_results':
        // Those of a group were taken with their assistant message; others have no call to answer.
        if (view.messages[position - 1]?.role !== 'assistant') appendStray(messages, message.results, rules);
        break;
    }
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [{ type: 'text', text: BEGINNING }] });
  // What a vendor paused goes on only if nothing stands behind it.
  const last = messages.at(-1);
  const isPaused = last?.role === 'assistant' && last.content.some(isVendorBlock);
  if (last?.role === 'assistant' && !isPaused) appendUser(messages, [{ type: 'text', text: CONTINUE }]);
  return messages;
}

function appendUser(messages: SendableMessage[], content: readonly SendablePart[]): void {
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === 'user') messages.splice(-1, 1, { role: 'user', content: [...last.content, ...content] });
  else messages.push({ role: 'user', content });
}

function appendGroup(
  messages: SendableMessage[],
  content: readonly ContentPart[],
  results: ToolResults,
  mapId: (id: string) => string,
  rules: VendorRules,
): void {
  const waiting = [...results];
  const answered: SendableResult[] = [];
  const parts = content.flatMap((part): (TextPart | ThinkingPart | ToolCallPart)[] => {
    switch (part.type) {
      case 'text':
        return sendableText(part.text);
      case 'thinking':
        return rules.thinking && part.provider === rules.provider ? [part] : [];
      case 'tool_call': {
        const id = mapId(part.id);
        const name = vendorToolName(part.name === '' ? 'unnamed' : part.name);
        const found = waiting.findIndex((result) => result.id === part.id);
        const result = found === -1 ? undefined : waiting.splice(found, 1)[0];
        answered.push({
          id,
          name,
          isError: result?.isError ?? true,
          content: result === undefined ? [{ type: 'text', text: NO_RESULT }] : sendableParts(result.content, rules),
        });
        return [{ ...part, id, name, arguments: sendableArguments(part.arguments).text }];
      }
      case 'image':
      case 'file':
        return [];
    }
  });
  // No vendor accepts thinking that nothing follows; an answer cut while thinking leaves just that.
  while (parts.at(-1)?.type === 'thinking' && !isVendorBlock(parts.at(-1))) parts.pop();
  if (parts.length > 0) appendAssistant(messages, parts);
  if (answered.length > 0) messages.push({ role: 'tool_results', results: answered });
  appendStray(messages, waiting, rules);
}

function isVendorBlock(part: ContentPart | undefined): boolean {
  return part?.type === 'thinking' && part.signature === VENDOR_BLOCK;
}

function appendAssistant(
  messages: SendableMessage[],
  content: readonly (TextPart | ThinkingPart | ToolCallPart)[],
): void {
  const last = messages.at(-1);
  if (last?.role === 'assistant') {
    messages.splice(-1, 1, { role: 'assistant', content: [...last.content, ...content] });
  } else messages.push({ role: 'assistant', content });
}

/** A result whose call is not in the view cannot be sent as one; its text still can. */
function appendStray(messages: SendableMessage[], results: ToolResults, rules: VendorRules): void {
  for (const result of results) {
    appendUser(messages, sendableParts(earlierResult(result.name, result.content), rules));
  }
}

function sendableParts(content: readonly ContentPart[], rules: VendorRules): SendablePart[] {
  return content.flatMap((part): SendablePart[] => {
    switch (part.type) {
      case 'text':
        return sendableText(part.text);
      case 'image':
        if (IMAGE_TYPES.some((type) => type === part.mediaType)) return [part];
        return sendableText(
          `[image of type ${nameText(part.mediaType)} left out: the model's provider does not accept it]`,
        );
      case 'file':
        return sendableFile(part, rules);
      case 'thinking':
      case 'tool_call':
        return [];
    }
  });
}

/** Vendors refuse text that is empty or only whitespace. */
function sendableText(text: string): TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text: repairText(text) }];
}

function sendableFile(part: FilePart, rules: VendorRules): SendablePart[] {
  if (part.mediaType === 'application/pdf' && rules.pdf) return [part];
  if (isReadAsText(part.mediaType)) {
    return sendableText(attachedText(part.name, Buffer.from(part.data, 'base64').toString('utf8')));
  }
  return sendableText(
    `[file ${nameText(part.name)} of type ${nameText(part.mediaType)} left out: the model's provider does not accept it]`,
  );
}
