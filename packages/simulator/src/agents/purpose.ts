import type { SimulatorRequest } from '../core/request.ts';
import type { Purpose } from '../faults/fault-store.ts';
import { findOrder } from '../summary/order.ts';
import { findSections } from '../summary/sections.ts';

/** Orders to write a summary, at the start of a sentence: "Summarize …", "Write a checkpoint of the conversation". */
const ORDER =
  /(?:^|[.!?:;]\s+|\n\s*)(?:please |now |your task is to |you must |then )?(?:summari[sz]e|(?:write|create|produce|generate|update|merge|fill|output|give|compress|reply with|answer with|respond with)\b[^.\n]{0,120}\b(?:summary|summaries|checkpoint|hand-?off|sections?))\b/i;

/** A system prompt that makes the model a summarizer and nothing else. */
const SUMMARIZER =
  /\b(?:you (?:are|summari[sz]e|write)\b[^.\n]{0,80}\bsummar|summari[sz](?:ation|er|ing)\b|only (?:output|write|answer with) the (?:structured )?summary)/i;

/**
 * Whether the request asks for a summary of a conversation: it orders one and names the sections. The order
 * stands in the system prompt, or in the newest text of the user when the request shares the conversation's prefix.
 */
export function purposeOf(request: SimulatorRequest): Purpose {
  const order = findOrder(request);
  if (order === undefined) return 'agent';
  const isOrdered = SUMMARIZER.test(request.system) || ORDER.test(withoutQuotedMaterial(order.text));
  return isOrdered && findSections(request.system, order.text).length > 0 ? 'summary' : 'agent';
}

/** Orders stand before or after the material, never deep inside. */
function withoutQuotedMaterial(text: string): string {
  const edge = 4000;
  return text.length <= edge * 2 ? text : `${text.slice(0, edge)}\n${text.slice(-edge)}`;
}
