import type { ContentPart } from '../log/content.ts';
import type { WindowFill } from '../plan/plan.ts';
import type { View } from './view.ts';

/** Characters that weigh as much as a token, about. */
const CHARACTERS_OF_TOKEN = 4;
/** Vendors charge for pictures by patches of 28 × 28 pixels, and for a page of a document about this much. Tokens. */
const PATCH_PIXELS = 28 * 28;
const PAGE_TOKENS = 2_500;

const KINDS = { user: 'userMessages', summary: 'summary', note: 'notes', runtime: 'notes' } as const;

/** The tokens of a request by kind of its content. Their sum is what was estimated; its shares follow the lengths alone. */
export function fillByKind({ system, tools, messages }: View, tokens: number): WindowFill {
  const sizes: Record<keyof WindowFill, number> = {
    fixed: system.length + JSON.stringify(tools).length,
    summary: 0,
    userMessages: 0,
    assistantMessages: 0,
    toolResults: 0,
    notes: 0,
  };
  for (const message of messages) {
    if (message.role === 'user') sizes[KINDS[message.origin]] += sizeOf(message.content);
    else if (message.role === 'assistant') sizes.assistantMessages += sizeOf(message.content);
    else for (const { content } of message.results) sizes.toolResults += sizeOf(content);
  }
  const whole = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  const share = (size: number): number => Math.round((size / Math.max(1, whole)) * tokens);
  return {
    fixed: share(sizes.fixed),
    summary: share(sizes.summary),
    userMessages: share(sizes.userMessages),
    assistantMessages: share(sizes.assistantMessages),
    toolResults: share(sizes.toolResults),
    notes: share(sizes.notes),
  };
}

function sizeOf(content: readonly ContentPart[]): number {
  return content.reduce((sum, part) => sum + sizeOfPart(part), 0);
}

function sizeOfPart(part: ContentPart): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return part.text.length;
    case 'tool_call':
      return part.name.length + part.arguments.length;
    case 'image':
      return ((part.width * part.height) / PATCH_PIXELS) * CHARACTERS_OF_TOKEN;
    case 'file':
      return part.pages * PAGE_TOKENS * CHARACTERS_OF_TOKEN;
  }
}
