import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';

/** The tool `hold`, which runs until it is released. */
export function createHoldingTool() {
  const releases: (() => void)[] = [];
  const tool = defineTool({
    name: 'hold',
    description: 'Waits until it is released.',
    input: z.object({}),
    effect: 'none',
    run: async () => {
      await new Promise<void>((resolve) => releases.push(resolve));
      return { content: 'released' };
    },
  });
  return {
    tool,
    /** Calls that began, released ones included. */
    begun: (): number => releases.length,
    /** All calls that began. */
    release: (): void => {
      for (const release of releases) release();
    },
  };
}
