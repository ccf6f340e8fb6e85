import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { LiveTextUpdate } from '../../client/types.ts';
import { textUpdate } from './updates.ts';
import type { ToldEntry } from './updates.ts';

const UPDATES = { text: 'agent_message_chunk', thinking: 'agent_thought_chunk' } as const;

/**
 * Shows an answer as it is written, and when it is stored what is missing of it. An editor cannot take words back: when a worker dies,
 * the answer of the next one follows what the first one had written.
 */
export class AnswerStream {
  #call = '';
  #attempt = 0;
  #shown: Record<keyof typeof UPDATES, string> = { text: '', thinking: '' };

  live({ turnId, callNumber, attempt, kind, offset, text }: LiveTextUpdate): SessionUpdate[] {
    if (kind === 'tool_call') return [];
    const call = `${turnId}:${callNumber}`;
    if (call !== this.#call || attempt > this.#attempt) this.#begin(call, attempt);
    // After a gap the stored answer tells the rest.
    if (attempt < this.#attempt || offset !== this.#shown[kind].length) return [];
    this.#shown[kind] += text;
    return [textUpdate(UPDATES[kind], text)];
  }

  /** What of the stored answer was not shown yet. */
  rest({ turnId, callNumber, content }: Pick<ToldEntry, 'turnId' | 'callNumber' | 'content'>): SessionUpdate[] {
    if (`${turnId}:${callNumber}` !== this.#call) this.#begin(`${turnId}:${callNumber}`, 0);
    return (['thinking', 'text'] as const).flatMap((kind) => {
      const whole = content.map((part) => (part.type === kind ? part.text : '')).join('');
      const shown = this.#shown[kind];
      const missing = whole.startsWith(shown) ? whole.slice(shown.length) : whole;
      this.#shown[kind] = whole;
      return missing === '' ? [] : [textUpdate(UPDATES[kind], missing)];
    });
  }

  #begin(call: string, attempt: number): void {
    this.#call = call;
    this.#attempt = attempt;
    this.#shown = { text: '', thinking: '' };
  }
}
