import { expect, test } from 'vitest';
import { conversationHeadLines, entryListLines } from '../../../../src/cli/render/lists/entry-list.ts';
import type { EntryListOptions } from '../../../../src/cli/render/lists/entry-list.ts';
import type { Conversation } from '../../../../src/client/types.ts';
import type { ContentPart } from '../../../../src/context/log/content.ts';
import { MARKED_STYLE as style } from '../marked-style.ts';
import { BEGIN, conversationOf, listedEntry, text, toolCall, turnOf } from '../timeline.ts';

const ID = listedEntry({ content: [] }).entryId;

function listed(entry: Partial<Parameters<typeof listedEntry>[0]>, options: Partial<EntryListOptions> = {}): string[] {
  const shown = { columns: null, style, full: false, ...options };
  return entryListLines([listedEntry({ content: [text('said')], ...entry })], shown);
}

test.each([
  [{ kind: 'user', sequence: 1_200 }, '#1,200 user#'],
  [{ kind: 'assistant' }, '*1 assistant*'],
  [{ kind: 'tool_result', toolName: 'read_file', callNumber: 3, callIndex: 1 }, '*1 result of 3.1 read_file*'],
  [{ kind: 'tool_result', isError: true }, '!1 error of a tool!'],
  [{ kind: 'compaction' }, '*1 compaction*'],
  [{ kind: 'branch_summary' }, '*1 branch summary*'],
  [{ kind: 'note', slot: 'plan' }, '*1 note: plan*'],
] as const)('%j is headed %s', (entry, head) => {
  expect(listed(entry)).toEqual(['', `${head}  ~${ID}~`, '  said']);
});

test('of long entries the first four lines are shown, unless only one more is there or all are asked for', () => {
  const said = (lines: number) => [text(Array.from({ length: lines }, (_, line) => `line ${line + 1}`).join('\n'))];
  const first = ['  line 1', '  line 2', '  line 3', '  line 4'];
  expect(listed({ content: said(5) }).slice(2)).toEqual([...first, '  line 5']);
  expect(listed({ content: said(6) }).slice(2)).toEqual([...first, '~  … 2 more lines~']);
  expect(listed({ content: said(6) }, { full: true }).slice(2)).toEqual([...first, '  line 5', '  line 6']);
  expect(listed({ content: said(6) }, { marked: ID.toUpperCase() })[1]).toBe(`→ *1 assistant*  ~${ID}~`);
  expect(listed({ content: said(6) }, { marked: ID })).toHaveLength(8);
  expect(listed({ content: said(6), compactionId: 'c1' }, { marked: 'c1' })).toHaveLength(8);
});

test('lines and arguments are cut to the terminal, and the size of the original goes first', () => {
  const content = [text('0123456789'.repeat(5)), toolCall(0, 'read', `{"path":"${'x'.repeat(80)}"}`)];
  const [, head, said, call] = listed({ content, originalBytes: 2_048 }, { columns: 40 });
  expect(head).toBe(`*1 assistant*  ~${ID}~`);
  expect(said).toBe(`  ${'0123456789'.repeat(5).slice(0, 37)}…`);
  expect(call).toMatch(/^ {2}→ 1\.0 read .+…$/u);
  expect(call?.length).toBeLessThanOrEqual(40);
  expect(listed({ content, originalBytes: 2_048 })[1]).toBe(`*1 assistant*  original 2.0 KB  ~${ID}~`);
  const whole = listed({ content }, { columns: 40, full: true });
  expect(whole.slice(2)).toEqual([`  ${'0123456789'.repeat(5)}`, `  → 1.0 read {"path":"${'x'.repeat(80)}"}`]);
});

test('a picture and a file are named, an empty part is not, and a late result says of which attempt it is', () => {
  const content: readonly ContentPart[] = [
    { type: 'image', mediaType: 'image/png', data: '', width: 8, height: 6 },
    { type: 'file', mediaType: 'application/pdf', data: '', name: 'a.pdf', pages: 1 },
  ];
  expect(listed({ content }).slice(2)).toEqual(['  [image, 8 × 6]', '  [file a.pdf]']);
  expect(listed({ kind: 'note', slot: 'rules', content: [text(''), text('Be brief.')] }).slice(2)).toEqual([
    '  Be brief.',
  ]);
  const late = { attempt: 2, isError: true, receivedAt: 'then', workerIdentity: 'w1', content: [text('no')] };
  expect(listed({ lateResults: [late] }).slice(3)).toEqual([
    '^  late error of attempt 2, then, worker w1; not in the view^',
    '    no',
  ]);
});

function head(changes: Partial<Conversation>, activeEntryCount = 9): string[] {
  return conversationHeadLines(conversationOf(changes), { activeEntryCount, columns: null, style, now: BEGIN });
}

test('the head tells what there is to tell of a conversation, and nothing else', () => {
  const id = '~conversation 01981f3c-0000-7000-8000-00000000000c~';
  expect(head({})).toEqual(['*A task*', id, 'new · agent default · 9 entries']);
  const turn = turnOf({
    outcome: 'stopped',
    explanation: 'The turn was stopped.',
    steps: 1,
    endedAt: '2026-01-01T12:00:02.000Z',
    givenUp: [{ model: 'a/b', callNumber: 3, reason: 'outage' }],
  });
  const more = { user: 'ann', model: 'simulator/sim-8k', waitingMessages: 2, secretsRedacted: 1, turn };
  expect(head(more, 7)).toEqual([
    '*A task*',
    id,
    'queued · agent default · user ann · simulator/sim-8k · 9 entries · 7 on the active branch · 2 messages waiting',
    '~1 secret replaced in summaries and what they were made from; the originals have them~',
    '~last turn: 1 step · 0 tokens in, 0 out · $0.00 · 2.0 s~',
    '^gave a/b up at model call 3 (outage) and went on with a fallback^',
    '^The turn was stopped.^',
  ]);
  const workerNeed = { needs: 'agent', name: 'bank' } as const;
  expect(head({ waitingMessages: 1, workerNeed }).slice(2)).toEqual([
    'waiting for worker · agent default · 9 entries · 1 message waiting',
    '^No worker has the agent bank so far. The turn begins or goes on when one does.^',
  ]);
  expect(head({ turn: turnOf({ explanation: 'The turn completed.' }) }).join()).not.toContain('The turn completed');
});
