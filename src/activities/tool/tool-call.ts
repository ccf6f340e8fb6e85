import { createHash } from 'node:crypto';
import { definedOf } from '../../context/policy/defined-of.ts';
import { measureContent } from '../../context/log/measure.ts';
import { storeToolResult } from '../../store/attempts/tool-calls.ts';
import type { ToolCallRow, StoredToolResult, ToolResultToStore } from '../../store/attempts/tool-calls.ts';
import { newId } from '../../store/database/ids.ts';
import { writePieces } from '../../store/log/content-pieces.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../tools/runtime/names.ts';
import type { ToolCallOutcome as ToolCallEnd } from '../../tools/runtime/compose-result.ts';
import type { RunToolInput } from '../../turn/activity-values.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { describeError, throughOutage } from '../runtime/failures.ts';
import { newText } from '../../store/log/entries.ts';

type StoredEnd = Omit<ToolCallEnd, 'later'>;

/** Stores the result of a tool, its original first. */
export async function storeToolEnd(
  { database, workerIdentity }: ActivityDependencies,
  input: RunToolInput,
  {
    end,
    ...result
  }: Pick<ToolResultToStore, 'entryId' | 'attempt' | 'fingerprint' | 'isWithoutRun'> & { readonly end: StoredEnd },
): Promise<StoredToolResult> {
  const { original: output, plan, pin, content } = end;
  const written = output === null ? undefined : await writePieces(database, input.turn.conversationId, output.pieces());
  const original = written && { ...written, missingBytes: written.missingBytes + (output?.missingBytes ?? 0) };
  return storeToolResult(database, {
    ...input,
    ...result,
    workerIdentity,
    outcome: outcomeOf(end),
    content,
    measurements: measureContent(content),
    ...definedOf({ original, plan: plan === undefined ? undefined : newText(plan), pin }),
  });
}

function outcomeOf({ ending, isError }: StoredEnd): ToolResultToStore['outcome'] {
  if (ending === 'outcome_unknown') return ending;
  return isError ? 'failed' : 'succeeded';
}

/**
 * Does not wait for a tool that ignores its abort, but stores its later result beside the log. Nothing else would ever report the outcome
 * of a call that was called unknown.
 */
export async function keepLater(
  dependencies: ActivityDependencies,
  input: RunToolInput,
  of: {
    readonly later: NonNullable<ToolCallEnd['later']>;
    readonly call: ToolCallRow;
    readonly attempt: number;
    readonly execution: Execution;
  },
): Promise<void> {
  const { call, attempt, execution } = of;
  try {
    const end = await of.later;
    if (end === null) return;
    const entryId = newId();
    const fingerprint = fingerprintOf({ ...end, turnId: input.turn.turnId, call });
    await dependencies.outlastingWork.finish(execution, async (lasting) => {
      try {
        const result = { end, entryId, attempt, fingerprint };
        await throughOutage(dependencies, lasting, () => storeToolEnd(dependencies, input, result));
      } finally {
        await end.dispose();
      }
    });
  } catch (error) {
    dependencies.logger.warn(describeError(error), 'what a tool came to after the end of its call is lost');
  }
}

/** A call of a turn, as the model made it. */
interface FingerprintedCall {
  readonly turnId: string;
  readonly call: Pick<ToolCallRow, 'name' | 'arguments'>;
}

/** Whether the tool only returns what the conversation holds. */
export function isRecall(tool: string): boolean {
  return tool === RECALL_SEARCH || tool === RECALL_OPEN;
}

/**
 * Distinguishes a call with its result from others of the turn. Recall finds more with everything that is stored, so only its question
 * counts.
 */
export function fingerprintOf({
  content,
  comparedBy = JSON.stringify(content),
  ...of
}: FingerprintedCall & Pick<ToolCallEnd, 'content' | 'comparedBy'>): string {
  return digest(of, isRecall(of.call.name) ? '' : comparedBy);
}

/** The same for every call with an unknown outcome: times and partial progress in its result differ each time and are no progress. */
export function fingerprintOfUnknown(call: FingerprintedCall): string {
  return digest(call, 'outcome_unknown');
}

/** Eight hexadecimal digits: enough to distinguish the calls of a turn, too few to reveal their content; salted with the turn's id. */
function digest({ turnId, call }: FingerprintedCall, result: string): string {
  const parts = JSON.stringify([turnId, call.name, call.arguments, result]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 8);
}
