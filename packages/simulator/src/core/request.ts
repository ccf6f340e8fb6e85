import type { SimulatedModel } from './simulated-model.ts';

export type Protocol = 'anthropic' | 'chat' | 'responses';

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly argumentsText: string }
  | { readonly kind: 'tool_result'; readonly callId: string; readonly isError: boolean; readonly text: string }
  /** Images, files, thinking: counted, but nothing that a scripted agent reads. */
  | { readonly kind: 'other' };

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly Block[];
}

export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A cacheable, countable part of the request, in the order in which the vendor builds the prompt: tools, system, messages. */
export interface Piece {
  readonly text: string;
  /** Tokens beyond those of `text`: framing, images. */
  readonly extraTokens: number;
  /** The request asks that the prompt up to here be cached (Anthropic's `cache_control`). */
  readonly cacheMark?: '5m' | '1h';
}

/** What the agent must do about tools: as the request's `tool_choice` says. */
export type ToolChoice = { readonly kind: 'auto' | 'none' | 'any' } | { readonly kind: 'tool'; readonly name: string };

/** One request, whatever the protocol it came by. */
export interface SimulatorRequest {
  readonly protocol: Protocol;
  readonly model: SimulatedModel;
  readonly system: string;
  readonly tools: readonly ToolOffer[];
  readonly messages: readonly Message[];
  readonly toolChoice: ToolChoice;
  /** Tokens of the longest answer that the request allows; the model's maximum when it names none. */
  readonly maximumOutput: number;
  readonly stream: boolean;
  /** Whether a stream ends with usage (Chat Completions: only when asked for). */
  readonly streamUsage: boolean;
  readonly pieces: readonly Piece[];
  /** Parameters of the request that the answer repeats (Responses). */
  readonly echo: Readonly<Record<string, unknown>>;
}
