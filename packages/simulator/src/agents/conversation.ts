import type { SimulatorRequest } from '../core/request.ts';
import { classifyUserText, splitUserText, type UserTextKind } from './user-text.ts';

/** What a tool answered. */
export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
}

/** One thing that happened, as far as the request tells. */
export type ConversationEvent =
  | { readonly kind: 'user'; readonly textKind: UserTextKind; readonly text: string }
  | { readonly kind: 'assistant'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      /** Absent while the call has no result. */
      readonly result?: CallResult;
    };

export type CallEvent = Extract<ConversationEvent, { kind: 'call' }>;

/** The request's messages as a list of events, oldest first. */
export function readConversation(request: SimulatorRequest): readonly ConversationEvent[] {
  const results = new Map<string, CallResult>();
  for (const message of request.messages) {
    for (const block of message.blocks) {
      if (block.kind === 'tool_result') results.set(block.callId, { text: block.text, isError: block.isError });
    }
  }
  return request.messages.flatMap((message) =>
    message.blocks.flatMap((block, index): ConversationEvent[] => {
      switch (block.kind) {
        case 'text': {
          if (message.role === 'assistant') return [{ kind: 'assistant', text: block.text }];
          const heading = message.blocks[index - 1];
          // A note's heading may be a block of its own: `[Current plan]`, and then the plan.
          const isUnderHeading = heading?.kind === 'text' && /^\s*\[[^\]\n]+\]\s*$/.test(heading.text);
          return splitUserText(block.text).map((text, part) => {
            const textKind = isUnderHeading && part === 0 ? 'note' : classifyUserText(text);
            return { kind: 'user', textKind, text };
          });
        }
        case 'tool_call': {
          const result = results.get(block.id);
          const call = { kind: 'call' as const, name: block.name, arguments: parseArguments(block.argumentsText) };
          return [result === undefined ? call : { ...call, result }];
        }
        case 'tool_result':
        case 'other':
          return [];
      }
    }),
  );
}

type Arguments = Readonly<Record<string, unknown>>;

/** @param broken stands for what is no JSON. Default: a model sees its own broken call as it was; nothing can be read from it */
export function parseArguments(text: string, broken: Arguments = {}): Arguments {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return broken;
  }
}

/** The newest thing that the user said, and what happened since. */
export interface Assignment {
  readonly text: string;
  readonly since: readonly ConversationEvent[];
}

/** The newest text of the user for which `accepts` holds; notes and summaries are not the user's. */
export function newestUserText(
  events: readonly ConversationEvent[],
  accepts: (text: string) => boolean = () => true,
): Assignment | undefined {
  const index = events.findLastIndex(
    (event) => event.kind === 'user' && event.textKind === 'message' && accepts(event.text),
  );
  const event = events[index];
  return event?.kind === 'user' ? { text: event.text, since: events.slice(index + 1) } : undefined;
}

/** Whether an assignment was answered: words without a call, and something of the user's behind them. */
export function isAnswered(since: readonly ConversationEvent[]): boolean {
  return since.some((event, index) => {
    const next = since[index + 1];
    return event.kind === 'assistant' && next?.kind === 'user' && next.textKind === 'message';
  });
}

/** A string argument of a call; `undefined` when it is missing or no string. */
export function stringArgument(call: CallEvent, name: string): string | undefined {
  const value = call.arguments[name];
  return typeof value === 'string' ? value : undefined;
}
