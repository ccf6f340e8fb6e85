import { deleteConversation } from '../../../src/store/conversations/delete-conversation.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import { indexConversation } from '../../../src/store/memory/recall-search.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { fillConversation } from '../fill-conversation.ts';
import { runTurn } from '../measured-turn.ts';
import { summarize } from '../statistics.ts';

/** A step with a tool call has two entries. */
const STEPS = 5_000;

/** Deletes an indexed conversation of 10,000 entries as the role of the application, with all triggers and constraints. */
export async function measureDeletion(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const { conversationId: template } = await runTurn(stack, 2);
  const application = connectDatabase({ url: stack.connections.databaseUrl, maximumConnections: 1 });
  const milliseconds: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { conversationId } = await fillConversation(stack.database, { template, steps: STEPS });
      await indexConversation(application, conversationId);
      const started = performance.now();
      await deleteConversation(application, conversationId);
      milliseconds.push(performance.now() - started);
    }
  } finally {
    await application.end({ timeout: 5 });
  }
  const target = { atMost: 5_000 };
  return [{ benchmark: 'deletion', name: '10,000 entries, indexed', unit: 'ms', target, ...summarize(milliseconds) }];
}
