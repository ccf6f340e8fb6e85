import type { ImportTally } from '../session-record.ts';
import type { Arrangement } from './arrangement.ts';

/** What a line says of its place in the tree. */
export interface TreeLine {
  /** `null`: it names none. */
  readonly id: string | null;
  /** Id of the line that it follows; `null`: it is a beginning; `undefined`: it does not say. */
  readonly parentId: string | null | undefined;
  /** Something that was said; other lines of a branch that was left are counted for what they are. */
  readonly isPart: boolean;
  /** Of a sub-agent: it begins no branch of the conversation. */
  readonly isAside: boolean;
  /** It begins a tree of its own. */
  readonly isBeginning: boolean;
  /** Milliseconds. */
  readonly time: number | undefined;
  /** Lines with the same one are one answer. */
  readonly answerId: string | undefined;
  /** Ids of the tool calls that it makes, and of those whose results it has. */
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

export const NO_TREE_LINE: TreeLine = {
  id: null,
  parentId: undefined,
  isPart: false,
  isAside: false,
  isBeginning: false,
  time: undefined,
  answerId: undefined,
  calls: [],
  results: [],
};

interface Node extends TreeLine {
  /** In the order of the file; of a line that was written twice, that of the first. */
  readonly position: number;
  readonly time: number;
  /** The line before that is no aside: what it follows when its parent is not in the file. */
  readonly before: Node | null;
  value: unknown;
}

/**
 * A transcript whose lines name the line that they follow: the newest branch of it. Results and pieces of an answer that stand
 * beside its branch belong to it, as parallel calls are written.
 */
export class TranscriptTree implements Arrangement {
  private readonly arranged: unknown[] = [];
  private nodes: Node[] = [];
  private byId = new Map<string, Node>();
  private readonly lineOf: (value: unknown) => TreeLine;
  private readonly tally: ImportTally;

  constructor(tally: ImportTally, lineOf: (value: unknown) => TreeLine) {
    this.tally = tally;
    this.lineOf = lineOf;
  }

  add(value: unknown): void {
    const line = this.lineOf(value);
    if (line.isBeginning) this.endTree();
    const known = line.id === null ? undefined : this.byId.get(line.id);
    if (known === undefined) this.addNode(line, value);
    else {
      this.tally.leftOut('copy of a line');
      known.value = value;
    }
  }

  values(): readonly unknown[] {
    this.endTree();
    return this.arranged;
  }

  private addNode(line: TreeLine, value: unknown): void {
    const last = this.nodes.at(-1) ?? null;
    const before = last === null || !last.isAside ? last : last.before;
    const time = line.time ?? last?.time ?? 0;
    const node: Node = { ...line, time, position: this.nodes.length, before, value };
    this.nodes.push(node);
    if (line.id !== null) this.byId.set(line.id, node);
  }

  private endTree(): void {
    const branch = this.withParallelLines(this.newestBranch());
    const isOnBranch = new Set(branch);
    const others = this.nodes.filter((node) => !isOnBranch.has(node));
    for (const node of others) if (isSaid(node)) this.tally.leftOut('line of another branch');
    const beside = others.filter((node) => !isSaid(node));
    const header = beside.filter(({ isBeginning }) => isBeginning);
    const rest = beside.filter(({ isBeginning }) => !isBeginning);
    this.arranged.push(...[...header, ...branch, ...rest].map(({ value }) => value));
    this.nodes = [];
    this.byId = new Map();
  }

  /** From its first line to its newest. */
  private newestBranch(): Node[] {
    const followed = new Set<Node>();
    const said = this.nodes.filter(isSaid);
    for (const node of said) {
      for (let each = this.parentOf(node); each !== null && !followed.has(each); each = this.parentOf(each)) {
        followed.add(each);
      }
    }
    const ends = said.filter((node) => !followed.has(node));
    // Ids that were damaged into a circle leave no end.
    let newest = ends[0] ?? said.at(-1) ?? null;
    for (const node of ends) if (newest === null || node.time >= newest.time) newest = node;
    const branch = new Set<Node>();
    for (let node = newest; node !== null && !branch.has(node); node = this.parentOf(node)) branch.add(node);
    return [...branch].toReversed();
  }

  /** Calls of one answer run side by side, and the next line follows whichever result came last: the others stand beside the branch. */
  private withParallelLines(branch: readonly Node[]): Node[] {
    const isOnBranch = new Set(branch);
    const beside = this.nodes.filter((node) => isSaid(node) && !isOnBranch.has(node));
    const answers = new Map(branch.flatMap((node, at) => (node.answerId === undefined ? [] : [[node.answerId, at]])));
    const calls = new Map(branch.flatMap((node, at) => node.calls.map((id) => [id, at])));
    const added = new Map<number, Node[]>();
    const add = (node: Node, at: number): void => void added.set(at, [...(added.get(at) ?? []), node]);
    for (const node of beside) {
      const at = node.answerId === undefined ? undefined : answers.get(node.answerId);
      if (at === undefined || !this.hangsOn(isOnBranch, node)) continue;
      add(node, at);
      for (const id of node.calls) calls.set(id, at);
    }
    for (const node of branch) for (const id of node.results) calls.delete(id);
    // The newest result of a call counts.
    for (const node of beside.toReversed()) {
      const answered = node.results.find((id) => calls.has(id));
      const at = answered === undefined ? undefined : calls.get(answered);
      if (at === undefined) continue;
      add(node, at);
      for (const id of node.results) calls.delete(id);
    }
    return branch.flatMap((node, at) => [
      node,
      ...(added.get(at) ?? []).toSorted((left, right) => left.position - right.position),
    ]);
  }

  /** Whether a piece of an answer follows the branch by nothing but that answer and results: one that was copied with its session does not. */
  private hangsOn(branch: ReadonlySet<Node>, piece: Node): boolean {
    const seen = new Set<Node>([piece]);
    for (let each = this.parentOf(piece); each !== null && !seen.has(each); each = this.parentOf(each)) {
      if (branch.has(each)) return true;
      if (each.answerId !== piece.answerId && each.results.length === 0) return false;
      seen.add(each);
    }
    return false;
  }

  /** A line whose parent is not in the file follows the line before it. */
  private parentOf(node: Node): Node | null {
    const { parentId } = node;
    if (parentId === null) return null;
    const parent = parentId === undefined || parentId === node.id ? undefined : this.byId.get(parentId);
    return parent ?? (node.isAside ? null : node.before);
  }
}

function isSaid({ isPart, isAside }: Node): boolean {
  return isPart && !isAside;
}
