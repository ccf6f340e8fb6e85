import type { ImportTally } from '../session-record.ts';
import type { Arrangement } from './arrangement.ts';

/** What a value does to the values before it. */
export type Update =
  /** Stands at its place, or at that of the value with the same key. Default of `key`: it has none. */
  | { readonly kind: 'put'; readonly key?: string; readonly beginsTurn?: boolean }
  /** The elements of its list take the place of everything so far. */
  | {
      readonly kind: 'put_list';
      readonly list: readonly { readonly key: string | undefined; readonly value: unknown }[];
    }
  /** The value with this key and all behind it count no more; where there is none, all of them. */
  | { readonly kind: 'take_back'; readonly from: string }
  /** The newest turns count no more. */
  | { readonly kind: 'take_back_turns'; readonly turns: number }
  /** Says something of the file, whatever is taken back. */
  | { readonly kind: 'note' };

interface Kept {
  readonly value: unknown;
  readonly beginsTurn: boolean;
}

/** A file to which changes of what it said before are appended: the state after the last one. */
export class UpdateLog implements Arrangement {
  private kept = new Map<string, Kept>();
  private readonly notes: unknown[] = [];
  private unnamed = 0;
  private readonly updateOf: (value: unknown) => Update;
  private readonly tally: ImportTally;

  constructor(tally: ImportTally, updateOf: (value: unknown) => Update) {
    this.tally = tally;
    this.updateOf = updateOf;
  }

  add(value: unknown): void {
    const update = this.updateOf(value);
    switch (update.kind) {
      case 'note':
        this.notes.push(value);
        return;
      case 'put':
        this.put(update.key, { value, beginsTurn: update.beginsTurn === true });
        return;
      case 'put_list':
        this.replaceAll(update.list);
        return;
      case 'take_back':
        this.takeBack(update.from);
        return;
      case 'take_back_turns':
        this.takeBackTurns(update.turns);
    }
  }

  values(): unknown[] {
    return [...this.notes, ...[...this.kept.values()].map(({ value }) => value)];
  }

  private put(name: string | undefined, value: Kept): void {
    this.unnamed += name === undefined ? 1 : 0;
    const key = name === undefined ? `unnamed ${this.unnamed}` : `named ${name}`;
    if (this.kept.has(key)) this.tally.leftOut('earlier state of a record');
    this.kept.set(key, value);
  }

  private replaceAll(list: Extract<Update, { kind: 'put_list' }>['list']): void {
    const before = this.kept;
    this.kept = new Map();
    for (const { key, value } of list) this.put(key, { value, beginsTurn: false });
    for (const key of before.keys()) {
      this.tally.leftOut(this.kept.has(key) ? 'earlier state of a record' : 'record taken back');
    }
  }

  private takeBack(from: string): void {
    const keys = [...this.kept.keys()];
    // Without one Gemini CLI takes everything back.
    this.deleteAll(keys.slice(Math.max(0, keys.indexOf(`named ${from}`))));
  }

  private takeBackTurns(turns: number): void {
    const keys = [...this.kept.keys()];
    const begins = keys.flatMap((key, position) => (this.kept.get(key)?.beginsTurn === true ? [position] : []));
    const from = begins.slice(-turns)[0];
    if (turns > 0 && from !== undefined) this.deleteAll(keys.slice(from));
  }

  private deleteAll(keys: readonly string[]): void {
    for (const key of keys) {
      this.tally.leftOut('record taken back');
      this.kept.delete(key);
    }
  }
}
