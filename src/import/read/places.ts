import type { FileHandle } from 'node:fs/promises';
import { property } from '../../models/protocols/json.ts';
import { valuesOfLine } from './line-values.ts';

/** Where a value stands in a file of lines. */
export interface Place {
  /** Of its line, from 1. */
  readonly line: number;
  /** Of its line. Bytes. */
  readonly offset: number;
  readonly length: number;
  /** Among the values of the line. */
  readonly index: number;
  /** Of the messages that the value lists. Default: it is the value itself. */
  readonly element?: number;
}

/** Of the values of a file those that the session consists of, in its order: a file may be a tree, or a log of updates. */
export interface Arrangement {
  add(value: unknown, place: Place): void;
  places(): readonly Place[];
}

/** All values as they stand. */
export class FileOrder implements Arrangement {
  private readonly all: Place[] = [];

  add(_value: unknown, place: Place): void {
    this.all.push(place);
  }

  places(): readonly Place[] {
    return this.all;
  }
}

/** The messages that a value lists: a whole conversation, or an update that replaces it; `null`: it lists none. */
export function listedMessages(value: unknown): readonly unknown[] | null {
  const list = property(value, '$set', 'messages') ?? property(value, 'messages') ?? property(value, 'traj');
  return Array.isArray(list) ? list : null;
}

/** The values at some places, holding those of one line. */
export async function* readPlaces(handle: FileHandle, places: readonly Place[]): AsyncGenerator {
  let offset = -1;
  let values: readonly unknown[] = [];
  for (const place of places) {
    if (place.offset !== offset) {
      ({ offset } = place);
      const { buffer } = await handle.read(Buffer.alloc(place.length), 0, place.length, offset);
      values = valuesOfLine(buffer).values.map(({ value }) => value);
    }
    const value = values[place.index];
    yield place.element === undefined ? value : listedMessages(value)?.[place.element];
  }
}
