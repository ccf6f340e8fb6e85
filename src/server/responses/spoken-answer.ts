import type { ListedEntry, LiveTextUpdate } from '../../client/types.ts';
import { messageItem, reasoningItem, spoken, textPart } from './items.ts';
import type { OutputItem, Place, ResponseEvent } from './items.ts';

type Kind = 'text' | 'thinking';

/** An item that is being written. */
interface OpenItem {
  readonly place: Place;
  readonly name: string;
  readonly index: number;
  text: string;
}

/** Reasoning goes as a summary: the published document and OpenAI's SDK name the events of its text differently. */
const EVENTS = {
  text: { part: 'response.content_part', text: 'response.output_text', index: 'content_index' },
  thinking: {
    part: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
    index: 'summary_index',
  },
} as const;

/**
 * The text and the reasoning of an answer as items. A client cannot take words back: when a worker dies, or what is stored is not what
 * was written live, the item is closed as incomplete and another one begins.
 */
export class SpokenAnswer {
  readonly #nextIndex: () => number;
  readonly #done: (index: number, item: OutputItem) => void;
  readonly #open = new Map<Kind, OpenItem>();
  #call = '';
  #attempt = 0;
  /** Items of this kind that were begun for the call. */
  #begun: Record<Kind, number> = { text: 0, thinking: 0 };

  /**
   * @param nextIndex place of the next item in the output
   * @param done told of each item that is whole
   */
  constructor(nextIndex: () => number, done: (index: number, item: OutputItem) => void) {
    this.#nextIndex = nextIndex;
    this.#done = done;
  }

  live(place: Place, { callNumber, attempt, kind, offset, text }: LiveTextUpdate & { kind: Kind }): ResponseEvent[] {
    const events = this.#isNew(callNumber) || attempt > this.#attempt ? this.#begin(callNumber, attempt) : [];
    // After a gap the stored answer tells the rest.
    if (attempt < this.#attempt || offset !== (this.#open.get(kind)?.text.length ?? 0)) return events;
    return [...events, ...this.#write(place, kind, text)];
  }

  /** The answer is in the log: what of it was not shown yet, and its end. */
  stored(place: Place, { callNumber, content }: Pick<ListedEntry, 'callNumber' | 'content'>): ResponseEvent[] {
    const events = this.#isNew(callNumber ?? 0) ? this.#begin(callNumber ?? 0, 0) : [];
    for (const kind of ['thinking', 'text'] as const) {
      const whole = spoken(content, kind);
      const shown = this.#open.get(kind)?.text ?? '';
      if (!whole.startsWith(shown)) events.push(...this.#close(kind, 'incomplete'));
      const rest = whole.startsWith(shown) ? whole.slice(shown.length) : whole;
      if (rest !== '') events.push(...this.#write(place, kind, rest));
      events.push(...this.#close(kind, 'completed'));
    }
    return events;
  }

  /** The turn ended before the answer did. */
  abandon(): ResponseEvent[] {
    return [...this.#close('thinking', 'incomplete'), ...this.#close('text', 'incomplete')];
  }

  #isNew(callNumber: number): boolean {
    return String(callNumber) !== this.#call;
  }

  #begin(callNumber: number, attempt: number): ResponseEvent[] {
    const events = this.abandon();
    if (this.#isNew(callNumber)) this.#begun = { text: 0, thinking: 0 };
    this.#call = String(callNumber);
    this.#attempt = attempt;
    return events;
  }

  #write(place: Place, kind: Kind, text: string): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    let open = this.#open.get(kind);
    if (open === undefined) {
      this.#begun[kind] += 1;
      const again = this.#begun[kind] > 1 ? `.${this.#begun[kind]}` : '';
      open = { place, name: `${this.#call}${again}`, index: this.#nextIndex(), text: '' };
      this.#open.set(kind, open);
      const item = itemOf(kind, open, 'in_progress');
      events.push({ type: 'response.output_item.added', output_index: open.index, item });
      events.push({ type: `${EVENTS[kind].part}.added`, ...placeOf(kind, item, open), part: partOf(kind, '') });
    }
    open.text += text;
    const item = itemOf(kind, open, 'in_progress');
    const logprobs = kind === 'text' ? { logprobs: [] } : {};
    return [...events, { type: `${EVENTS[kind].text}.delta`, ...placeOf(kind, item, open), delta: text, ...logprobs }];
  }

  #close(kind: Kind, status: 'completed' | 'incomplete'): ResponseEvent[] {
    const open = this.#open.get(kind);
    if (open === undefined) return [];
    this.#open.delete(kind);
    const item = itemOf(kind, open, status);
    if (status === 'completed') this.#done(open.index, item);
    const at = placeOf(kind, item, open);
    const logprobs = kind === 'text' ? { logprobs: [] } : {};
    return [
      { type: `${EVENTS[kind].text}.done`, ...at, text: open.text, ...logprobs },
      { type: `${EVENTS[kind].part}.done`, ...at, part: partOf(kind, open.text) },
      { type: 'response.output_item.done', output_index: open.index, item },
    ];
  }
}

function itemOf(kind: Kind, { place, name, text }: OpenItem, status: 'in_progress' | 'completed' | 'incomplete') {
  const shown = status === 'in_progress' ? '' : text;
  return kind === 'text' ? messageItem(place, name, shown, status) : reasoningItem(place, name, shown, status);
}

function partOf(kind: Kind, text: string) {
  return kind === 'text' ? textPart(text) : { type: 'summary_text' as const, text };
}

function placeOf(kind: Kind, { id }: { readonly id: string }, { index }: OpenItem) {
  return { item_id: id, output_index: index, [EVENTS[kind].index]: 0 };
}
