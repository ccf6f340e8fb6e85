import { createHash } from 'node:crypto';
import type { ToolSchema } from '../../context/view/view.ts';

/** What Anthropic, OpenAI and nearly all compatible servers accept as the name of a tool. */
const ACCEPTED_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The name as a vendor accepts it: unchanged where possible, otherwise the same for the same name always. */
export function vendorToolName(name: string): string {
  if (ACCEPTED_NAME.test(name)) return name;
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 55);
  return `${readable}_${digest(name).slice(0, 8)}`;
}

/** Translates the names in an answer back to those of the declared tools. A name that nobody declared stays. */
export function declaredToolName(tools: readonly ToolSchema[]): (vendorName: string) => string {
  const declared = new Map(tools.map((tool) => [vendorToolName(tool.name), tool.name]));
  return (vendorName) => declared.get(vendorName) ?? vendorName;
}

/** Which ids of tool calls a vendor accepts; a refused one is replaced by `prefix` and a digest. */
export interface ToolCallIdRule {
  readonly accepted: RegExp;
  readonly prefix: string;
  /** Characters of the digest. Default: 24. */
  readonly digestLength?: number;
}

/** https://docs.anthropic.com: letters, digits, `_` and `-`. */
export const ANTHROPIC_CALL_IDS: ToolCallIdRule = { accepted: /^[a-zA-Z0-9_-]{1,64}$/, prefix: 'toolu_' };

/** OpenAI refuses `tool_calls[].id` over 40 characters in Chat Completions. */
export const CHAT_CALL_IDS: ToolCallIdRule = { accepted: /^[\x21-\x7e]{1,40}$/, prefix: 'call_' };

/** Responses refuses `call_id` over 64 characters. */
export const RESPONSES_CALL_IDS: ToolCallIdRule = { accepted: /^[a-zA-Z0-9_-]{1,64}$/, prefix: 'call_' };

/** Servers that hand out long ids of their own (with a signature inside) want them back unchanged. */
export const COMPATIBLE_CALL_IDS: ToolCallIdRule = { accepted: /^[\x21-\x7e]{1,512}$/, prefix: 'call_' };

/** Mistral accepts nine letters and digits, nothing else. */
export const MISTRAL_CALL_IDS: ToolCallIdRule = { accepted: /^[a-zA-Z0-9]{9}$/, prefix: '', digestLength: 9 };

/**
 * Maps the ids of one request's tool calls to ids that the vendor accepts, unique in the request:
 * local servers number their calls from 0 in every answer.
 */
export function createCallIdMapping(rule: ToolCallIdRule): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    let candidate = rule.accepted.test(id) ? id : replacement(rule, id);
    for (let occurrence = 2; used.has(candidate); occurrence += 1) candidate = replacement(rule, `${id}#${occurrence}`);
    used.add(candidate);
    return candidate;
  };
}

function replacement({ prefix, digestLength = 24 }: ToolCallIdRule, id: string): string {
  return `${prefix}${digest(id).slice(0, digestLength)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
