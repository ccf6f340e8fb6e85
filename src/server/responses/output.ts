/** What a response puts out. The ids of its items carry what they name, so that this door keeps no table of its own. Pure. */
import { textOf } from '../../context/log/content.ts';
import type { ContentPart, ToolCallPart } from '../../context/log/content.ts';
import type { LiveTextUpdate, OpenedEntry, WaitingCall } from '../../client/types.ts';

/** A response is the turn that takes a message. */
export interface ResponseReference {
  readonly conversationId: string;
  readonly messageId: string;
}

type Status = 'in_progress' | 'completed' | 'incomplete';

export type OutputItem =
  | { readonly type: 'message' | 'reasoning'; readonly id: string; readonly status: Status }
  | ToolCallItem
  | ReturnType<typeof decisionItem | typeof compactionItem>;

type ToolCallItem = ReturnType<typeof toolCallItem>;

const ID = /^(?<kind>[a-z]+)_(?<conversationId>[0-9a-f-]{36})_(?<messageId>[0-9a-f-]{36})(?:_[\w.-]+)?$/u;

/** @param name of an item in its response */
export function idOf(
  kind: 'resp' | 'msg' | 'rs' | 'tc' | 'ask' | 'cmp',
  { conversationId, messageId }: ResponseReference,
  ...name: string[]
): string {
  return [kind, conversationId, messageId, ...name].join('_');
}

/** The response that an id names, or whose item it names; `null`: it is no id of this door. */
export function readId(id: string): (ResponseReference & { readonly isResponse: boolean }) | null {
  const { kind, conversationId, messageId } = ID.exec(id)?.groups ?? {};
  if (conversationId === undefined || messageId === undefined) return null;
  return { conversationId, messageId, isResponse: kind === 'resp' };
}

/**
 * A call of one of the agent's own tools, before it ran. A function call would ask the caller to run it. A call that failed, or whose outcome
 * is unknown, ends as `incomplete`; `output` says more.
 */
function toolCallItem(id: string, { name, arguments: json }: ToolCallPart) {
  const open: { readonly status: Status; readonly output: string | null } = { status: 'in_progress', output: null };
  return { type: 'holdfast:tool_call' as const, id, name, arguments: json, ...open };
}

/** A call that waits for a person; decide on it by `POST /v1/conversations/{conversation}/approve`, `deny` or `answer`. */
export function decisionItem(of: ResponseReference, waiting: WaitingCall) {
  const { call, kind, tool: name, arguments: json, expiresAt } = waiting;
  return {
    type: 'holdfast:decision_request' as const,
    id: idOf('ask', of, call),
    status: 'completed' as const,
    conversation: of.conversationId,
    call,
    kind,
    name,
    arguments: json,
    expires_at: expiresAt,
  };
}

/** @param summary `undefined`: not asked for. `null`: what left the window is shown shorter, without a summary */
export function compactionItem(of: ResponseReference, compactionId: string, summary?: string | null) {
  const id = idOf('cmp', of, compactionId);
  // The log holds it: the id alone leads back to it.
  const item = { type: 'compaction' as const, id, status: 'completed' as const, encrypted_content: id };
  return summary === undefined ? item : { ...item, summary };
}

/** An event of a streamed response, without its number. */
export type ResponseEvent = Readonly<Record<string, unknown>> & { readonly type: string };

type Kind = 'thinking' | 'text';

/** Reasoning goes as a summary: the published document and OpenAI's SDK name the events of its text differently. */
const FORMS = {
  text: {
    id: 'msg',
    events: { part: 'response.content_part', text: 'response.output_text' },
    place: { content_index: 0 },
    more: { logprobs: [] },
    part: (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
    item: (content: readonly object[]) => ({ type: 'message' as const, role: 'assistant', content }),
  },
  thinking: {
    id: 'rs',
    events: { part: 'response.reasoning_summary_part', text: 'response.reasoning_summary_text' },
    place: { summary_index: 0 },
    more: {},
    part: (text: string) => ({ type: 'summary_text', text }),
    item: (summary: readonly object[]) => ({ type: 'reasoning' as const, summary }),
  },
} as const;

/**
 * What a turn puts out, as events that open and close its items. A client cannot take words back: when a worker dies, or what is stored
 * is not what was written live, the item is closed as incomplete and another one begins.
 */
export class TurnOutput {
  readonly #of: ResponseReference;
  /** By index; `null`: it is not done, or a dead worker left it. */
  readonly #items: (OutputItem | null)[] = [];
  /** Messages and reasoning that are being written. */
  readonly #writing = new Map<Kind, { readonly id: string; readonly index: number; readonly text: string }>();
  /** Calls that run, by number and index. */
  readonly #running = new Map<string, { readonly index: number; readonly item: ToolCallItem }>();
  readonly #ids = new Set<string>();
  #call = 0;
  #attempt = 0;

  constructor(of: ResponseReference) {
    this.#of = of;
  }

  get items(): OutputItem[] {
    return this.#items.filter((item) => item !== null);
  }

  live({ callNumber, attempt, kind, offset, text }: Omit<LiveTextUpdate, 'turnId'>): ResponseEvent[] {
    if (kind === 'tool_call') return [];
    const begun = callNumber !== this.#call || attempt > this.#attempt ? this.#begin(callNumber, attempt) : [];
    // After a gap the stored answer tells the rest.
    if (attempt < this.#attempt || offset !== (this.#writing.get(kind)?.text.length ?? 0)) return begun;
    return [...begun, ...this.#write(kind, text)];
  }

  /** An answer or a result that is in the log. */
  stored(entry: Pick<OpenedEntry, 'kind' | 'callNumber' | 'callIndex' | 'content' | 'isError'>): ResponseEvent[] {
    const { kind, callNumber, callIndex, content, isError } = entry;
    if (kind === 'assistant') return this.#answer(callNumber ?? 0, content);
    const name = `${callNumber}.${callIndex}`;
    const call = kind === 'tool_result' ? this.#running.get(name) : undefined;
    if (call === undefined) return [];
    this.#running.delete(name);
    const status = isError ? 'incomplete' : 'completed';
    return [this.#done(call.index, { ...call.item, status, output: textOf(content) })];
  }

  /** An item that is whole at once. */
  add(item: OutputItem): ResponseEvent[] {
    const index = this.#items.push(null) - 1;
    return [{ type: 'response.output_item.added', output_index: index, item }, this.#done(index, item)];
  }

  /** What was begun and does not end any more. */
  end(): ResponseEvent[] {
    const running = [...this.#running.values()];
    const ends = running.map(({ index, item }) => this.#done(index, { ...item, status: 'incomplete' }));
    return [...this.#begin(this.#call, this.#attempt), ...ends];
  }

  /** What of the answer was not shown yet, its end, and its calls. */
  #answer(callNumber: number, content: readonly ContentPart[]): ResponseEvent[] {
    const events = callNumber === this.#call ? [] : this.#begin(callNumber, 0);
    for (const kind of ['thinking', 'text'] as const) {
      const whole = content.map((part) => (part.type === kind ? part.text : '')).join('');
      if (!whole.startsWith(this.#writing.get(kind)?.text ?? '')) events.push(...this.#close(kind, 'incomplete'));
      const rest = whole.slice(this.#writing.get(kind)?.text.length ?? 0);
      if (rest !== '') events.push(...this.#write(kind, rest));
      events.push(...this.#close(kind, 'completed'));
    }
    for (const part of content) {
      if (part.type !== 'tool_call') continue;
      const name = `${callNumber}.${part.index}`;
      const item = toolCallItem(idOf('tc', this.#of, name), part);
      const index = this.#items.push(null) - 1;
      this.#running.set(name, { index, item });
      events.push({ type: 'response.output_item.added', output_index: index, item });
    }
    return events;
  }

  #begin(callNumber: number, attempt: number): ResponseEvent[] {
    this.#call = callNumber;
    this.#attempt = attempt;
    return [...this.#close('thinking', 'incomplete'), ...this.#close('text', 'incomplete')];
  }

  #write(kind: Kind, text: string): ResponseEvent[] {
    const { id: prefix, events, place, more, part, item } = FORMS[kind];
    const written = this.#writing.get(kind);
    const { id, index } = written ?? this.#place(prefix);
    this.#writing.set(kind, { id, index, text: (written?.text ?? '') + text });
    const at = { item_id: id, output_index: index, ...place };
    const delta = { type: `${events.text}.delta`, ...at, delta: text, ...more };
    if (written !== undefined) return [delta];
    const begun = { ...item([]), id, status: 'in_progress' };
    const added = { type: 'response.output_item.added', output_index: index, item: begun };
    return [added, { type: `${events.part}.added`, ...at, part: part('') }, delta];
  }

  #place(prefix: 'msg' | 'rs') {
    const index = this.#items.push(null) - 1;
    const first = idOf(prefix, this.#of, String(this.#call));
    const id = this.#ids.has(first) ? `${first}.${index}` : first;
    this.#ids.add(id);
    return { id, index };
  }

  #close(kind: Kind, status: 'completed' | 'incomplete'): ResponseEvent[] {
    const writing = this.#writing.get(kind);
    if (writing === undefined) return [];
    this.#writing.delete(kind);
    const { id, index, text } = writing;
    const { events, place, more, ...form } = FORMS[kind];
    const at = { item_id: id, output_index: index, ...place };
    const part = form.part(text);
    const done = this.#done(index, { ...form.item([part]), id, status });
    if (status === 'incomplete') this.#items[index] = null;
    return [{ type: `${events.text}.done`, ...at, text, ...more }, { type: `${events.part}.done`, ...at, part }, done];
  }

  #done(index: number, item: OutputItem): ResponseEvent {
    this.#items[index] = item;
    return { type: 'response.output_item.done', output_index: index, item };
  }
}
