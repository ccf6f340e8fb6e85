import { NO_MEASUREMENTS } from '../../../src/context/log/measurements.ts';
import { changeBranch } from '../../../src/store/conversations/change-branch.ts';
import { readBranchCommand } from '../../../src/store/conversations/branch-commands.ts';
import type { NewBranchSummary } from '../../../src/store/conversations/change-branch.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { newId } from '../../../src/store/database/ids.ts';
import { readLeftBranch } from '../../../src/store/conversations/left-branch.ts';
import { acceptMessage } from '../../../src/store/messages/messages.ts';
import type { BranchTarget } from '../../../src/store/messages/messages.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import { continueConversation, endedAs } from './store-builders.ts';
import type { BeginOptions } from './store-builders.ts';

export async function end(sql: Database, turn: TurnReference): Promise<void> {
  await endedAs(sql, turn);
}

/** Sends a fork or a switch. */
export async function command(sql: Database, conversationId: string, target: BranchTarget): Promise<void> {
  const kind = target.branch === undefined ? 'fork' : 'switch';
  await acceptMessage(sql, { id: newId(), conversationId, kind, content: [], measurements: NO_MEASUREMENTS, target });
}

/** Carries a fork or a switch out, as a turn with no step. */
export async function go(
  sql: Database,
  conversationId: string,
  target: BranchTarget,
  summary: NewBranchSummary | null = null,
  options: BeginOptions = {},
): Promise<{ ancestorSequence: number; left: number[] }> {
  await command(sql, conversationId, target);
  const turn = await continueConversation(sql, conversationId, options);
  const read = await readBranchCommand(sql, turn);
  if (read.kind !== 'command') throw new Error(`the command is ${read.kind}`);
  const left: number[] = [];
  for await (const page of readLeftBranch(sql, { conversationId, command: read.command }))
    left.unshift(...page.map(({ sequence }) => sequence).toReversed());
  await changeBranch(sql, turn, read.command, summary);
  await end(sql, turn);
  return { ancestorSequence: read.command.ancestorSequence, left };
}
