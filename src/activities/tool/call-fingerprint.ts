import { createHash } from 'node:crypto';
import type { ContentPart } from '../../context/log/content.ts';
import type { RequestedToolCall } from '../../store/attempts/tool-calls.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../tools/runtime/names.ts';

/** A call of a turn, as the model made it. */
interface FingerprintedCall {
  readonly turnId: string;
  readonly claim: Pick<RequestedToolCall, 'name' | 'arguments'>;
}

/** Whether the tool only brings back what the conversation holds. */
export function isRecall(tool: string): boolean {
  return tool === RECALL_SEARCH || tool === RECALL_OPEN;
}

/** What is known of a call's result. */
interface FingerprintedResult {
  readonly content: readonly ContentPart[];
  /** What it is compared by, when that is not `content`. */
  readonly comparedBy?: string | undefined;
}

/**
 * Tells a call with its result from others of the turn. What recall finds changes with everything that is stored, so for it
 * the question alone counts.
 */
export function fingerprintOf(call: FingerprintedCall & FingerprintedResult): string {
  const { claim, content, comparedBy } = call;
  if (isRecall(claim.name)) return digest(call, '');
  return digest(call, comparedBy ?? JSON.stringify(content));
}

/** The same for each such call: the times that its result names, and how far it got, are another each time and no progress. */
export function fingerprintOfUnknown(call: FingerprintedCall): string {
  return digest(call, 'outcome_unknown');
}

/** Eight hexadecimal digits: enough to tell the calls of a turn apart, too few to tell what they hold; salted with the turn's id. */
function digest({ turnId, claim }: FingerprintedCall, result: string): string {
  const parts = JSON.stringify([turnId, claim.name, claim.arguments, result]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 8);
}
