import type { ToolCallPart } from '../../../context/log/content.ts';

/** Addresses a tool call within its turn. */
export interface ToolReference {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly name: string;
  readonly attempt?: number;
}

export interface RunningTool {
  readonly reference: ToolReference;
  readonly arguments: string | null;
  /** Milliseconds since 1970. */
  readonly since: number;
}

interface Running {
  readonly tools: readonly RunningTool[];
  /** Tool calls of the newest answers, by `callNumber:callIndex`. */
  readonly calls: ReadonlyMap<string, ToolCallPart>;
}

/** The tool runs since then, in place of an earlier claim. */
export function withTool({ tools, calls }: Running, tool: ToolReference, since: number): readonly RunningTool[] {
  const written = calls.get(`${tool.callNumber}:${tool.callIndex}`)?.arguments ?? null;
  return [...withoutTool(tools, tool), { reference: tool, arguments: written, since }];
}

export function withoutTool(tools: readonly RunningTool[], tool: ToolReference): readonly RunningTool[] {
  return tools.filter(({ reference }) => !isSameCall(reference, tool));
}

export function isSameCall(one: ToolReference, other: ToolReference): boolean {
  return one.callNumber === other.callNumber && one.callIndex === other.callIndex;
}
