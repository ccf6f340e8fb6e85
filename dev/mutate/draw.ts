import { createHash } from 'node:crypto';
import type { Mutation } from './mutations.ts';

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** One change of each of `count` lines. A line's place in the order depends on the seed and the line alone. */
export function drawMutations(mutations: readonly Mutation[], seed: string, count: number): Mutation[] {
  const ofLines = new Map<string, Mutation[]>();
  for (const mutation of mutations) {
    const rank = hash(`${seed} ${mutation.file}:${mutation.line}`);
    ofLines.set(rank, [...(ofLines.get(rank) ?? []), mutation]);
  }
  return [...ofLines]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, count)
    .flatMap(([rank, ofLine]) => ofLine[Number.parseInt(rank.slice(-8), 16) % ofLine.length] ?? []);
}
