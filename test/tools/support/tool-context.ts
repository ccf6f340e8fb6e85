import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { z } from 'zod';
import { textOf } from '../../../src/context/log/content.ts';
import type { ToolCallOutcome } from '../../../src/tools/runtime/compose-result.ts';
import { runToolCall } from '../../../src/tools/runtime/run-tool-call.ts';
import type { ToolContext, ToolDefinition, ToolMemory } from '../../../src/tools/tool.ts';

export const ENTRY_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** A new directory that is gone after the test. Real path: the system's own may be a link. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-test-')));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export const emptyMemory: ToolMemory = {
  search: () => Promise.resolve([]),
  searchedInPart: () => Promise.resolve([]),
  countUnindexed: () => Promise.resolve(0),
  open: () => Promise.resolve(null),
  around: () => Promise.resolve(null),
};

export function callContext(changes: Partial<Omit<ToolContext, 'output'>> = {}): Omit<ToolContext, 'output'> {
  return {
    conversationId: 'conversation',
    turnId: 'turn',
    tenant: 'default',
    user: null,
    workspace: '/nonexistent',
    protectedPaths: [],
    idempotencyKey: `test-${process.pid}-${Math.random()}`,
    attempt: 1,
    signal: new AbortController().signal,
    requireClaim: () => Promise.resolve(),
    resultLimit: 12_000,
    memory: emptyMemory,
    memories: null,
    ...changes,
  };
}

export interface CallOptions {
  readonly input?: unknown;
  readonly argumentsText?: string;
  readonly context?: Partial<Omit<ToolContext, 'output'>>;
  readonly secrets?: readonly string[];
}

/** Runs a call the way the runTool activity does. */
export async function call<Input extends z.ZodType>(
  tool: ToolDefinition<Input>,
  { input = {}, argumentsText = JSON.stringify(input), context = {}, secrets = [] }: CallOptions,
): Promise<ToolCallOutcome & { readonly text: string }> {
  const outcome = await runToolCall({
    offered: [tool],
    name: tool.name,
    argumentsText,
    context: callContext(context),
    entryId: ENTRY_ID,
    secrets,
  });
  onTestFinished(() => outcome.dispose());
  return { ...outcome, text: textOf(outcome.content) };
}

/** All stored bytes of a result's original. */
export async function originalBytes(outcome: ToolCallOutcome): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of outcome.original?.pieces() ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}
