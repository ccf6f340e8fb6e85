import { decideCoveredCalls as decide } from '../store/decisions.ts';
import type { ActivityDependencies } from './dependencies.ts';

/**
 * Decides calls that wait although a decision stands for all turns of their agent, and rings their turns: who made it died
 * before it reached them, or they began to wait just then.
 */
export async function decideCoveredCalls({ database, ringDoorbell }: ActivityDependencies): Promise<void> {
  for (const { conversationId } of await decide(database)) await ringDoorbell(conversationId);
}
