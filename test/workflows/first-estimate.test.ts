import { expect, test } from 'vitest';
import { useWorkingHarness } from '../support/turn-harness.ts';

const harness = useWorkingHarness({ agent: { rules: ['Answer in one sentence.'] } });

// Models of their own, so that none is told what was learned of another.
test.each(['simulator/sim-32k', 'simulator-chat/sim-32k', 'simulator-responses/sim-32k'])(
  'the first request to %s is estimated within 15 % of what the provider counts: instructions, tools and frames',
  async (model) => {
    const { conversationId } = await harness.runTask('Say hello', { model });
    const [call] = await harness.database<{ estimatedTokens: number; inputTokens: number }[]>`
      select m.estimated_tokens, m.input_tokens from model_attempts m join turns t on t.id = m.turn_id
      where t.conversation_id = ${conversationId}`;
    const ratio = (call?.estimatedTokens ?? 0) / (call?.inputTokens ?? 1);
    expect(call?.inputTokens).toBeGreaterThan(1_000);
    expect(ratio).toBeGreaterThan(0.85);
    expect(ratio).toBeLessThan(1.15);
  },
);
