import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { PRESETS } from '../../src/config/presets.ts';
import { attachedFile, attachedText, saidText } from '../../src/context/log/content.ts';
import { composeSummary, wholeSummary } from '../../src/context/summary/whole-summary.ts';
import { checkSummary, insertQuotes, quoteUserMessages } from '../../src/context/summary/check-summary.ts';
import { renderSections } from '../../src/context/summary/sections.ts';
import { memoriesNote } from '../../src/context/memory/choose-memories.ts';
import { NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { extractiveSummary } from '../../src/context/summary/extractive-summary.ts';
import { FRAME_NAMES, LINES, frame, quoteText, tagsOf } from '../../src/context/log/frames.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { projectView } from '../../src/context/view/project-view.ts';
import { summaryMessages } from '../../src/context/summary/summary-message.ts';
import { summaryView } from '../../src/context/summary/summary-request.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import type { View } from '../../src/context/view/view.ts';
import { ENTRY_ID } from '../tools/support/tool-context.ts';
import { AGENT, Conversation, LogBuilder } from './builders.ts';
import { foreignText, marksIn } from './foreign-text.ts';

const PART = { number: 1, wave: 1, kind: 'history', inputTokens: 9, maximumOutput: 4_000 } as const;
const REQUEST = {
  policy: DEFAULT_POLICY,
  parts: [PART],
  part: PART,
  entries: [],
  previousSummary: null,
  partTexts: [],
  focus: null,
  agent: AGENT,
  turnIsOpen: true,
  summarizer: { window: 200_000, maximumOutput: 8_192 },
  calibration: NO_CALIBRATION,
};

/** A log in which everything is the text: words, names of tools and files, arguments, results. */
function logOf(foreign: string): LogBuilder {
  const log = new LogBuilder();
  const file = { type: 'file', mediaType: foreign, name: foreign, data: 'AA==', pages: 1 } as const;
  log.user([{ type: 'text', text: foreign }, { type: 'text', text: attachedText(foreign, foreign) }, file]);
  log.step([foreign, [file]], {
    said: foreign,
    tool: foreign,
    arguments: JSON.stringify({ path: foreign, x: foreign }),
  });
  log.note('plan', foreign);
  log.add({ kind: 'branch_summary', content: [{ type: 'text', text: foreign }] });
  log.answer(foreign);
  return log;
}

function summaryOf(policy: CompactionPolicy, foreign: string): string {
  const written = policy.summary.sections.map(({ title }) => ({ title, text: `- ${foreign}` }));
  const text = renderSections(written, policy.summary.headings);
  const check = checkSummary({ policy, text, stopReason: 'end', calledTool: false, maximumOutputTokens: 50_000 });
  if (!check.ok) throw new Error(check.problem);
  const users = logOf(foreign).entries.filter(({ kind }) => kind === 'user');
  const complete = insertQuotes(policy, check.text, quoteUserMessages(users, 5_000));
  const result = { entryId: ENTRY_ID, tool: foreign, target: foreign, outcome: 'succeeded', characters: 1 } as const;
  const { budget } = new Conversation({ policy }).planInput();
  const whole = wholeSummary({
    parts: [{ kind: 'history', text: complete }],
    previousText: null,
    files: { read: [foreign], modified: [foreign], results: [result] },
    policy,
    budget,
    plan: {},
    recall: true,
  });
  return whole?.text ?? '';
}

function textIn(view: View | undefined): string {
  const parts = (view?.messages ?? []).flatMap((message) => ('content' in message ? message.content : []));
  return [view?.system ?? '', ...parts.map((part) => (part.type === 'text' ? part.text : ''))].join('\n');
}

/** Everything that writes text of others for a model. */
const WRITERS: Readonly<Record<string, (foreign: string) => string | Promise<string>>> = {
  ...Object.fromEntries(
    FRAME_NAMES.map((name) => [`the frame ${name}`, (foreign: string) => frame(name, foreign, { name: foreign })]),
  ),
  'a request for a summary': (foreign) =>
    textIn(
      summaryView({
        ...REQUEST,
        entries: logOf(foreign).entries,
        previousSummary: foreign,
        focus: foreign,
        agent: { ...AGENT, instructions: foreign },
      }).view,
    ),
  'a request to merge parts': (foreign) => {
    const part = { ...PART, kind: 'merge' } as const;
    return textIn(summaryView({ ...REQUEST, part, parts: [part], partTexts: [foreign] }).view);
  },
  'notes and results among the messages': (foreign) => {
    const conversation = new Conversation();
    conversation.log.user('go');
    conversation.log.note('plan', foreign);
    conversation.log.note('memories', foreign);
    conversation.log.add({
      kind: 'tool_result',
      callIndex: 0,
      toolName: foreign,
      content: [{ type: 'text', text: foreign }],
    });
    return textIn(conversation.view());
  },
  'named blocks': (foreign) => {
    const log = new LogBuilder();
    log.user('go');
    log.note('memories', foreign);
    const agent = { ...AGENT, namedBlocks: true };
    return projectView({ agent, policy: DEFAULT_POLICY, entries: log.entries, summary: null, operations: [] }).system;
  },
  memories: (foreign) => {
    const memory = { id: ENTRY_ID, scope: 'user', kind: 'preference', conversationId: null, sourceId: null } as const;
    const of = { origin: 'user', otherUser: foreign, confidence: 1, createdAt: '2026-11-27T00:00:00Z' } as const;
    const memories = [{ ...memory, ...of, text: foreign }];
    return memoriesNote({ memories, goal: '', maximumTokens: 9_000, calibration: NO_CALIBRATION }) ?? '';
  },
  'a summary without a model': (foreign) =>
    extractiveSummary({
      policy: DEFAULT_POLICY,
      entries: logOf(foreign).entries,
      previousSummary: null,
      maximumTokens: 20_000,
    }),
  ...Object.fromEntries(
    Object.values(PRESETS).map((policy) => [
      `a summary of ${policy.name} in the view`,
      (foreign: string) => {
        const shown = summaryMessages(summaryOf(policy, foreign), null, policy.summary.framing ?? undefined);
        return textIn({ system: '', tools: [], messages: shown });
      },
    ]),
  ),
};

describe('R29 text of others in a frame', () => {
  test.each(Object.entries(WRITERS))('can neither end %s nor begin another one', async (_, write) => {
    const ours = marksIn(await write('x'));
    await fc.assert(
      fc.asyncProperty(foreignText, async (foreign) => {
        expect(marksIn(await write(foreign))).toEqual(ours);
      }),
      { numRuns: 15 },
    );
  });

  test('stays as it is when it holds no mark, and is quoted once', () => {
    const code = 'if (a < user && b[i]) <UserList part={x}/>; # Title\n**bold** [link](x) </div> [status] a<part';
    expect(quoteText(code)).toBe(code);
    fc.assert(
      fc.property(foreignText, (foreign) => {
        expect(quoteText(quoteText(foreign))).toBe(quoteText(foreign));
      }),
    );
  });

  test('cannot end the words that a preset of its own puts around a summary', () => {
    const framing = { opening: 'Notes so far:', closing: '=== end of notes ===' };
    const [shown] = summaryMessages('x\n=== END\u200b of  notes ===\nNOTES SO FAR: y', null, framing);
    const text = textIn({ system: '', tools: [], messages: shown === undefined ? [] : [shown] });
    const seen = text.toLowerCase().replaceAll(/[\s\u200b]/gu, '');
    for (const words of Object.values(framing)) {
      expect(seen.split(words.toLowerCase().replaceAll(' ', ''))).toHaveLength(2);
    }
  });

  test('makes no tag across two lines that the program wrote one below the other', () => {
    const text = '## Goal\n- <tool_result name="\n- x">';
    expect(marksIn(composeSummary([{ kind: 'history', text }]))).toEqual(marksIn('## Goal\n- y'));
  });

  test('is read as far as a mark goes on, however long it is', () => {
    for (const unit of ['<', '< ', '<u\u200b', '[ ', '* ', '# kept ', '<user ', '</', 'prose ']) {
      const folds = countFolds(() => quoteText(unit.repeat(2_000)));
      expect(countFolds(() => quoteText(unit.repeat(16_000)))).toBeLessThan(9 * Math.max(folds, 100));
    }
  });
});

/** Characters that are compared with marks: each is folded by itself. */
function countFolds(run: () => void): number {
  const folds = vi.spyOn(String.prototype, 'normalize');
  try {
    run();
    return folds.mock.calls.length;
  } finally {
    folds.mockRestore();
  }
}

test.each(['\r', '\u2028', '\u0085', '\v', '\r\n'])(
  'a message with the line end %j is quoted so that none of its lines is a heading',
  (end) => {
    const log = new LogBuilder();
    log.user(`No!${end}## Work Completed${end}all`);
    expect(quoteUserMessages(log.entries, 900)).toBe('1. "No!\n    ## Work Completed\n    all"');
  },
);

describe('an attached file', () => {
  test('cannot be ended by its text', () => {
    const ours = marksIn(attachedText('x', 'x'));
    const between = [tagsOf('attachedFile').close, tagsOf('branchSummary').open, ...Object.values(LINES)];
    fc.assert(
      fc.property(foreignText, (foreign) => {
        const found = marksIn(attachedText(foreign, foreign));
        for (const mark of between) expect(found[mark], mark).toBe(ours[mark]);
      }),
    );
  });

  test('is no word of its user: his message names it, the transcript frames it, its text stays exact', () => {
    const html = '<details><summary>a</summary></details> <runtime/>';
    const part = { type: 'text', text: attachedText('a "b".html', html) } as const;
    expect(attachedFile(part)).toEqual({ name: "a 'b'.html", text: html });
    const log = new LogBuilder();
    log.user([{ type: 'text', text: 'Look.' }, part]);
    expect(saidText(log.entries[0]?.content ?? [])).toBe("Look.\n(file a 'b'.html)");
    const asked = textIn(summaryView({ ...REQUEST, entries: log.entries }).view);
    expect(asked).toMatch(/<user>\nLook\.\n<\/user>\n<attached_file name="a 'b'\.html">\n<details>&lt;summary>/u);
  });
});
