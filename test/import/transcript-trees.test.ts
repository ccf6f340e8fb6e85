import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brief, lines, readContent } from './read-fixture.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString();

/** A line of Claude Code. */
function line(uuid: string, parentUuid: string | null, minute: number, message: Record<string, unknown>) {
  const type = message['role'];
  return { type, uuid, parentUuid, sessionId: 's', isSidechain: false, timestamp: at(minute), message };
}

const user = (uuid: string, parent: string | null, minute: number, content: unknown = uuid) =>
  line(uuid, parent, minute, { role: 'user', content });
const answer = (uuid: string, parent: string, minute: number, id = `msg ${uuid}`) =>
  line(uuid, parent, minute, { role: 'assistant', id, content: [{ type: 'text', text: uuid }] });
const call = (uuid: string, parent: string, minute: number, toolId: string, id = 'msg') =>
  line(uuid, parent, minute, {
    role: 'assistant',
    id,
    content: [{ type: 'tool_use', id: toolId, name: 'Read', input: {} }],
  });
const result = (uuid: string, parent: string, minute: number, toolId: string) =>
  user(uuid, parent, minute, [{ type: 'tool_result', tool_use_id: toolId, content: 'read' }]);

describe('Claude Code: of a tree the newest branch is imported, and the rest counted', () => {
  test('a message that was written anew replaces the one before, with its answer', async () => {
    const { records, report } = await readContent(
      lines(
        user('u1', null, 1),
        answer('a1', 'u1', 2),
        user('u2', 'a1', 3),
        answer('a2', 'u2', 4),
        user('u3', 'a1', 5),
        answer('a3', 'u3', 6),
      ),
    );
    expect(brief(records)).toEqual(['user: u1', 'assistant: a1', 'user: u3', 'assistant: a3']);
    expect(report.leftOut).toEqual({ 'line of another branch': 2 });
  });

  test('the first message too', async () => {
    const { records } = await readContent(lines(user('u1', null, 1), answer('a1', 'u1', 2), user('u2', null, 3)));
    expect(brief(records)).toEqual(['user: u2']);
  });

  test('whatever tree: the path to its newest line, in whatever order and however often its lines stand there', async () => {
    const parents = fc.array(fc.nat(), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(parents, fc.integer(), fc.array(fc.nat(), { maxLength: 5 }), async (drawn, seed, copied) => {
        const parentOf = drawn.map((draw, index) => (index === 0 ? null : draw % index));
        const all = drawn.map((_, index) => user(`u${index}`, index === 0 ? null : `u${parentOf[index]}`, index));
        const copies = copied.flatMap((draw) => all[draw % all.length] ?? []);
        const shuffled = [...all, ...copies].toSorted(
          (left, right) => order(left.uuid, seed) - order(right.uuid, seed),
        );
        const path: string[] = [];
        for (let node: number | null = drawn.length - 1; node !== null; node = parentOf[node] ?? null)
          path.unshift(`user: u${node}`);
        const { records, report } = await readContent(lines(...shuffled));
        expect(brief(records)).toEqual(path);
        expect(report.leftOut['copy of a line'] ?? 0).toBe(copies.length);
        expect(report.leftOut['line of another branch'] ?? 0).toBe(all.length - path.length);
      }),
      { numRuns: 30 },
    );
  });

  test('copies that a resumed session wrote of a branch that was left do not bring it back', async () => {
    const left = [user('u2', 'a1', 3), answer('a2', 'u2', 4)];
    const { records } = await readContent(
      lines(user('u1', null, 1), answer('a1', 'u1', 2), ...left, user('u3', 'a1', 5), ...left),
    );
    expect(brief(records)).toEqual(['user: u1', 'assistant: a1', 'user: u3']);
  });

  test('copies of an answer under new ids do not stand beside it', async () => {
    const session = (copy: string) => [
      user(`u1${copy}`, null, 1),
      call(`c1${copy}`, `u1${copy}`, 2, 't1', 'msg 1'),
      result(`r1${copy}`, `c1${copy}`, 3, 't1'),
      answer(`a1${copy}`, `r1${copy}`, 4, 'msg 2'),
    ];
    const { records, report } = await readContent(lines(...session(''), ...session(' again')));
    expect(brief(records)).toEqual(['user: u1 again', 'call t1', 'result t1', 'assistant: a1 again']);
    expect(report.leftOut).toEqual({ 'line of another branch': 4 });
  });

  test('calls that ran side by side keep their results, whichever of them the next line follows', async () => {
    const calls = [
      user('u1', null, 1),
      call('a1', 'u1', 2, 't1'),
      call('a2', 'a1', 3, 't2'),
      call('a3', 'a2', 4, 't3'),
    ];
    const results = [result('r3', 'a3', 5, 't3'), result('r1', 'a1', 6, 't1'), result('r2', 'a2', 7, 't2')];
    for (const last of ['r1', 'r2', 'r3']) {
      const { records, report } = await readContent(lines(...calls, ...results, answer('a4', last, 8)));
      const said = brief(records);
      expect(said.slice(0, 4)).toEqual(['user: u1', 'call t1', 'call t2', 'call t3']);
      expect(said.slice(4, 7).toSorted()).toEqual(['result t1', 'result t2', 'result t3']);
      expect(said.slice(7)).toEqual(['assistant: a4']);
      expect(report.leftOut).toEqual({});
    }
  });

  test('a result of a call whose branch was left does not come along', async () => {
    const { records } = await readContent(
      lines(
        user('u1', null, 1),
        call('a1', 'u1', 2, 't1'),
        result('r1', 'a1', 3, 't1'),
        user('u2', null, 4),
        answer('a2', 'u2', 5),
      ),
    );
    expect(brief(records)).toEqual(['user: u2', 'assistant: a2']);
  });

  test('a compaction goes on with what was before it, also when the line that it names is not there', async () => {
    for (const logicalParentUuid of ['a1', 'gone', undefined]) {
      const boundary = {
        type: 'system',
        subtype: 'compact_boundary',
        uuid: 'b1',
        parentUuid: null,
        logicalParentUuid,
        sessionId: 's',
        timestamp: at(3),
      };
      const summary = { ...user('s1', 'b1', 4), isCompactSummary: true };
      const { records } = await readContent(
        lines(
          user('u1', null, 1),
          answer('a1', 'u1', 2),
          boundary,
          summary,
          user('u2', 's1', 5),
          answer('a2', 'u2', 6),
        ),
      );
      expect(brief(records)).toEqual(['user: u1', 'assistant: a1', 'compacted', 'user: u2', 'assistant: a2']);
    }
  });

  test('a compaction follows the line that it names, past a branch that was left', async () => {
    const boundary = {
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'b1',
      parentUuid: null,
      logicalParentUuid: 'a1',
      timestamp: at(4),
    };
    const { records } = await readContent(
      lines(user('u1', null, 1), answer('a1', 'u1', 2), user('u2', 'a1', 3), boundary, user('u3', 'b1', 5)),
    );
    expect(brief(records)).toEqual(['user: u1', 'assistant: a1', 'compacted', 'user: u3']);
  });

  test('a sub-agent is no branch, however new, and lines may follow one of its', async () => {
    const aside = { ...user('x1', null, 9), isSidechain: true };
    const { records, report } = await readContent(
      lines(user('u1', null, 1), aside, answer('a1', 'x1', 2), answer('a2', 'u1', 3)),
    );
    expect(brief(records)).toEqual(['user: u1', 'assistant: a2']);
    expect(report.leftOut).toEqual({ 'line of a sub-agent': 1, 'line of another branch': 1 });
  });

  test('a line whose parent is not there follows the line before it', async () => {
    const gone = await readContent(lines(user('u1', null, 1), answer('a1', 'gone', 2), user('u2', 'a1', 3)));
    expect(brief(gone.records)).toEqual(['user: u1', 'assistant: a1', 'user: u2']);
  });
});

/** Of no meaning, the same for a seed each time. */
function order(name: string, seed: number): number {
  return (Number(name.slice(1)) * 7_919 + seed * 104_729) % 9_973;
}

describe('pi: of a tree the newest branch is imported', () => {
  const entry = (id: string, parentId: string | null, more: Record<string, unknown>) => ({
    id,
    parentId,
    timestamp: at(1),
    ...more,
  });
  const said = (id: string, parentId: string | null) =>
    entry(id, parentId, { type: 'message', message: { role: 'user', content: id } });
  const header = { type: 'session', version: 3, id: 's', timestamp: at(0) };

  test('the one of the last entry, whatever that is; a compaction of another one leaves no mark', async () => {
    const compaction = entry('c1', 'b', { type: 'compaction', summary: 'so far', tokensBefore: 5 });
    const model = entry('m1', 'd', { type: 'model_change', modelId: 'm' });
    const { records, report } = await readContent(
      lines(header, said('a', null), said('b', 'a'), compaction, said('d', 'a'), said('e', 'c1'), model),
    );
    expect(brief(records)).toEqual(['user: a', 'user: d']);
    expect(report.leftOut).toEqual({ 'line of another branch': 3, model_change: 1 });
  });

  test('of several sessions each its own', async () => {
    const { records } = await readContent(
      lines(header, said('a', null), said('b', 'a'), header, said('a', null), said('c', 'a')),
    );
    expect(brief(records)).toEqual(['user: a', 'user: b', 'user: a', 'user: c']);
    expect(records.filter(({ kind }) => kind === 'session')).toHaveLength(2);
  });
});
