import { EventEmitter, once } from 'node:events';
import type { SimulatorRequest } from '../core/request.ts';
import type { Fault } from './fault.ts';

export type Purpose = 'agent' | 'summary';

/** A fault that waits for requests to strike. */
export interface ArmedFault {
  readonly id: string;
  readonly fault: Fault;
  /** Requests that it still lets pass. */
  readonly skip: number;
  /** Requests that it will still meet; `null`: until it is deleted. */
  readonly remaining: number | null;
}

/** What a fault is matched against. */
export interface FaultSubject {
  readonly request: SimulatorRequest;
  readonly purpose: Purpose;
  /** The request's body as it came. */
  readonly rawBody: string;
}

/** Whether a fault meets a request, its schedule aside. */
export function matches(fault: Fault, subject: FaultSubject): boolean {
  const { match } = fault;
  if (fault.kind.startsWith('summary_') && subject.purpose !== 'summary') return false;
  if (match.purpose !== undefined && match.purpose !== subject.purpose) return false;
  if (match.model !== undefined && match.model !== subject.request.model.id) return false;
  if (match.protocol !== undefined && match.protocol !== subject.request.protocol) return false;
  if (subject.rawBody.length < (match.minimumCharacters ?? 0)) return false;
  if (match.containing === undefined) return true;
  // In a JSON body the text stands escaped.
  return (
    subject.rawBody.includes(match.containing) ||
    subject.rawBody.includes(JSON.stringify(match.containing).slice(1, -1))
  );
}

/** The faults set from outside, oldest first. At most one strikes a request. */
export class FaultStore {
  #armed: readonly ArmedFault[] = [];
  #created = 0;
  /** Tells of each removal. Held requests listen, and there may be many. */
  readonly #removals = new EventEmitter().setMaxListeners(0);

  add(fault: Fault): ArmedFault {
    this.#created += 1;
    const armed = { id: `fault-${this.#created}`, fault, skip: fault.skip, remaining: fault.times };
    this.#armed = [...this.#armed, armed];
    return armed;
  }

  list(): readonly ArmedFault[] {
    return this.#armed;
  }

  /** Removes one fault, or all. Returns how many were removed. */
  remove(id?: string): number {
    const before = this.#armed.length;
    this.#armed = id === undefined ? [] : this.#armed.filter((armed) => armed.id !== id);
    this.#removals.emit('removal');
    return before - this.#armed.length;
  }

  /** Ends when the fault is deleted, or with an abort. */
  async removed(fault: Fault, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#armed.some((armed) => armed.fault === fault))
      await once(this.#removals, 'removal', { signal }).catch(() => undefined);
  }

  /** The oldest fault that strikes this request, counted as used. Matching faults in front of their turn count one pass. */
  take(subject: FaultSubject): Fault | undefined {
    let struck: Fault | undefined;
    this.#armed = this.#armed.flatMap((armed) => {
      if (struck !== undefined || !matches(armed.fault, subject)) return [armed];
      if (armed.skip > 0) return [{ ...armed, skip: armed.skip - 1 }];
      struck = armed.fault;
      if (armed.remaining === null) return [armed];
      return armed.remaining > 1 ? [{ ...armed, remaining: armed.remaining - 1 }] : [];
    });
    return struck;
  }
}
