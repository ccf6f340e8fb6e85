import { describe, expect, it, test } from 'vitest';
import { extractiveSummary } from '../../src/context/extractive-summary.ts';
import { appendMissing, missingFromSummary } from '../../src/context/must-keep.ts';
import { DEFAULT_POLICY } from '../../src/context/presets/default.ts';
import { ruleSentences } from '../../src/context/user-rules.ts';
import { LogBuilder, prose } from './builders.ts';

describe('ruleSentences', () => {
  test.each([
    [
      'Look at the log. From now on, open the pump only with the pass ax1234.',
      'open the pump only with the pass ax1234.',
    ],
    ['Never push to main! Then go on.', 'Never push to main!'],
    ['Bitte schau nach. Ab jetzt antwortest du auf Deutsch.', 'Ab jetzt antwortest du auf Deutsch.'],
    ['看一下日志。以后必须用中文回答。', '以后必须用中文回答。'],
    ['Réponds toujours en français.', 'Réponds toujours en français.'],
  ])('finds the rule in %j', (text, rule) => {
    const found = ruleSentences(text);
    expect(found).toHaveLength(1);
    expect(found[0]?.endsWith(rule)).toBe(true);
  });

  it('finds one behind many words, and none in blocks of code or in what binds nothing', () => {
    const rule = 'From now on, open the valve only with the pass bo9.';
    expect(ruleSentences(`${prose(4_000)}\n${rule}`)).toEqual([rule]);
    expect(ruleSentences('```\nassert(x); // must never fail\n```\nThe maintainer is Ada.')).toEqual([]);
  });
});

/** Ten passes of a model that tells nothing of what it reads. */
function afterPasses(messages: readonly (readonly string[])[], limit: number): string {
  let summary = '';
  for (const said of messages) {
    const log = new LogBuilder();
    for (const each of said) {
      log.user(each);
      log.step(['read']);
    }
    const text = `## Requests and Outcomes\n${said.map((each) => `- ${each.slice(0, 200)} → done`).join('\n')}`;
    const missing = missingFromSummary({ text, entries: log.entries, earlierTexts: [summary] });
    summary = appendMissing(text, missing, limit);
  }
  return summary;
}

const rule = (at: number): string => `From now on, open valve ${at} only with the pass ax${1_000 + at}.`;

describe('rules of the user', () => {
  test.each([
    ['of thirty tokens', (at: number) => `Please look at station ${at} and tell me what you find there.`],
    ['of hundreds of words', (at: number) => `Station ${at}. ${prose(1_600)}`],
    ['of one sentence said over and over', () => 'Please look at the station again and tell me. '.repeat(25)],
  ])('stay word for word over ten passes at the end of messages %s', (_, words) => {
    const messages = Array.from({ length: 10 }, (_of, pass) => [
      `${words(2 * pass)}\n${rule(2 * pass)}`,
      `${words(2 * pass + 1)}\n${rule(2 * pass + 1)}`,
    ]);
    const summary = afterPasses(messages, 1_500);
    for (let at = 0; at < 20; at += 1) expect(summary).toContain(rule(at));
  });

  it('are each kept once, within a bounded room, the newest of too many', () => {
    const said = Array.from({ length: 2_000 }, (_, at) => rule(at % 1_000));
    const summary = afterPasses([said], 100_000);
    const kept = summary.split('\n').filter((line) => line.startsWith('- Rule of the user: '));
    expect(new Set(kept).size).toBe(kept.length);
    expect(kept.join('').length).toBeLessThan(6_500);
    expect(kept.at(-1)).toContain(rule(999));
  });

  it('stand in a summary that is made without a model, also those of the summary before', () => {
    const earlier = appendMissing('## Current State\n- none', [`Rule of the user: ${rule(1)}`], 1_000);
    const log = new LogBuilder();
    log.user(`${prose(3_000)}\n${rule(2)}`);
    for (let each = 0; each < 40; each += 1) log.step([prose(400)]);
    const text = extractiveSummary({
      policy: DEFAULT_POLICY,
      entries: log.entries,
      previousSummary: earlier,
      maximumTokens: 600,
    });
    expect(text).toContain(rule(1));
    expect(text).toContain(rule(2));
  });
});
