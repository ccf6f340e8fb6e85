import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import type { ToolDefinition } from '../../../src/tools/tool.ts';
import type { TurnHarness } from '../../support/turn-harness.ts';
import { waitUntil } from '../../support/wait-until.ts';

interface HeldCall {
  readonly release: () => void;
  /** As `performance.now()` gives it; `null`: not aborted. */
  readonly abortedAt: () => number | null;
}

export interface HeldCalls {
  /** The tool `hold`; each call ends when it is released or aborted, the one named `deaf` when released only. */
  readonly tool: ToolDefinition;
  /** Calls that began, by name. */
  readonly held: ReadonlyMap<string, HeldCall>;
  /** Starts a task that calls it, and waits until it runs. */
  readonly start: (
    harness: TurnHarness,
    name: string,
  ) => Promise<{ readonly conversationId: string; readonly messageId: string }>;
}

export function createHeldCalls(): HeldCalls {
  const held = new Map<string, HeldCall>();
  const tool = defineTool({
    name: 'hold',
    description: 'Waits until it is released.',
    input: z.object({ name: z.string() }),
    effect: 'none',
    run: async ({ name }, { signal }) => {
      await new Promise<void>((resolve) => {
        let abortedAt: number | null = null;
        signal.addEventListener('abort', () => (abortedAt = performance.now()), { once: true });
        held.set(name, { release: resolve, abortedAt: () => abortedAt });
        if (name !== 'deaf') signal.addEventListener('abort', () => resolve(), { once: true });
      });
      signal.throwIfAborted();
      return { content: `released ${name}` };
    },
  });
  return {
    tool,
    held,
    async start({ client }, name) {
      const sent = await client.start(`Call hold with {"name": "${name}"}`);
      await waitUntil(`${name} is held`, () => held.has(name));
      return sent;
    },
  };
}
