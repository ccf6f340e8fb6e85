import { parseArguments, readConversation, type ConversationEvent } from '../agents/conversation.ts';
import type { SimulatorRequest } from '../core/request.ts';
import { findOrder } from './order.ts';
import { promptWithoutMaterial } from './sections.ts';

/** What a request for a summary gives to summarize. */
export interface Material {
  /** What happened, oldest first; texts of earlier summaries come first as events of their own. */
  readonly events: readonly ConversationEvent[];
  /** Instructions that the assistant works under, as far as the prompt shows them. */
  readonly instructions: string;
}

const FRAME =
  /<(user|attached_file|assistant|note|tool_call|tool_result|summary)((?: [^>\n]*)?)>\n?([\s\S]*?)\n?<\/\1>/g;
const SUMMARIES = /<(previous[-_]summary|part)(?: [^>\n]*)?>\n?([\s\S]*?)\n?<\/\1>/gi;
const TRANSCRIPT = /<(transcript|conversation|messages|history)(?: [^>\n]*)?>\n?([\s\S]*)<\/\1>/i;

/**
 * The material of a request for a summary: the conversation before the order when the request shares its prefix,
 * and what the order itself quotes: previous summaries, parts and a transcript.
 */
export function readMaterial(request: SimulatorRequest): Material {
  const found = findOrder(request);
  const order = found?.text ?? '';
  const before = readConversation({ ...request, messages: found?.before ?? [] });
  const transcript = TRANSCRIPT.exec(order);
  const outside = transcript === null ? order : order.replace(transcript[0], '');
  const summaries = [...outside.matchAll(SUMMARIES)].map((match): ConversationEvent => ({
    kind: 'user',
    textKind: 'summary',
    text: match[2] ?? '',
  }));
  const events = [...summaries, ...before, ...transcriptEvents(transcript?.[2] ?? '')];
  const quoted = /<agent_instructions>\n?([\s\S]*?)\n?<\/agent_instructions>/.exec(outside)?.[1] ?? '';
  // Material without any frame: all of it is one text.
  if (events.length === 0) events.push({ kind: 'user', textKind: 'message', text: promptWithoutMaterial(order) });
  return { events, instructions: `${before.length > 0 ? request.system : ''}\n${quoted}` };
}

/** The frames of a transcript; results belong to the oldest call of their tool that has none yet. */
function transcriptEvents(transcript: string): ConversationEvent[] {
  const events: ConversationEvent[] = [];
  for (const match of transcript.matchAll(FRAME)) {
    const [, tag = '', attributes = '', text = ''] = match;
    const name = /\bname="([^"]*)"/.exec(attributes)?.[1] ?? '';
    switch (tag) {
      case 'user':
      case 'attached_file':
        events.push({ kind: 'user', textKind: 'message', text });
        break;
      case 'assistant':
        events.push({ kind: 'assistant', text });
        break;
      case 'tool_call':
        // A call that was cut or shortened: what it did is not known, and must not be taken for nothing.
        events.push({ kind: 'call', name, arguments: parseArguments(text, { clipped: text }) });
        break;
      case 'tool_result':
        addResult(events, name, { text, isError: attributes.includes('failed="true"') });
        break;
      default:
        events.push({ kind: 'user', textKind: tag === 'summary' ? 'summary' : 'note', text });
    }
  }
  if (events.length === 0 && transcript.trim() !== '')
    events.push({ kind: 'user', textKind: 'message', text: transcript });
  return events;
}

function addResult(events: ConversationEvent[], name: string, result: { text: string; isError: boolean }): void {
  const index = events.findIndex((event) => event.kind === 'call' && event.name === name && event.result === undefined);
  const call = events[index];
  if (call?.kind === 'call') events[index] = { ...call, result };
}
