import { textOf } from '../../../src/context/log/content.ts';
import { storeAnswer } from '../../../src/store/attempts/model-calls.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import { toolSchema } from '../../../src/tools/runtime/tool-input.ts';
import type { ToolDefinition } from '../../../src/tools/tool.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { answerWith, register, startTurn, toolCall } from '../../store/support/store-builders.ts';

/** The first call of a turn that `turnCalling` begins. */
export const CALL = { callNumber: 1, callIndex: 0 };

/**
 * A turn whose first answer calls a tool that its snapshot offers.
 * @param calls times; they do not differ
 */
export async function turnCalling(sql: Database, tool: ToolDefinition, calls = 1): Promise<TurnReference> {
  const turn = await startTurn(sql, 'hello', { snapshot: { tools: [toolSchema(tool)] } });
  const asked = Array.from({ length: calls }, (_, index) => toolCall(index, tool.name));
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), asked));
  return turn;
}

/** Texts of the tool results of a conversation, in order. */
export async function toolResults(
  sql: Database,
  { conversationId }: { readonly conversationId: string },
): Promise<string[]> {
  const entries = await listEntries(sql, { conversationId, kinds: ['tool_result'] });
  return entries.map(({ content }) => textOf(content));
}
