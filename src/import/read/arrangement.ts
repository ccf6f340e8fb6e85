import { property } from '../../models/protocols/json.ts';

/** Of the values of a file of lines those that the session consists of, in its order: a file may be a tree, or a log of updates. */
export interface Arrangement {
  add(value: unknown): void;
  values(): readonly unknown[];
}

/** All values as they stand. */
export class FileOrder implements Arrangement {
  private readonly all: unknown[] = [];

  add(value: unknown): void {
    this.all.push(value);
  }

  values(): readonly unknown[] {
    return this.all;
  }
}

/** The messages that a value lists: a whole conversation, or an update that replaces it; `null`: it lists none. */
export function listedMessages(value: unknown): readonly unknown[] | null {
  const list = property(value, '$set', 'messages') ?? property(value, 'messages') ?? property(value, 'traj');
  return Array.isArray(list) ? list : null;
}
