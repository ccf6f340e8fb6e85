import { describe, expect, it } from 'vitest';
import { redactedOriginals } from '../../src/activities/compaction/redaction.ts';
import { textOf } from '../../src/context/log/content.ts';
import type { Entry } from '../../src/context/log/entry.ts';
import { NO_CALIBRATION } from '../../src/context/log/estimate.ts';
import { extractiveSummary } from '../../src/context/summary/extractive-summary.ts';
import { pathsInArguments } from '../../src/context/log/readable-text.ts';
import { DEFAULT_POLICY } from '../../src/context/policy/presets/default.ts';
import { quoteUserMessages } from '../../src/context/summary/check-summary.ts';
import { transcriptText } from '../../src/context/summary/transcript.ts';
import { LogBuilder } from '../context/builders.ts';
import { nestedJson } from '../support/nested.ts';
import { SECRETS_IN_PLACE, toldOfSecrets } from './support/secrets.ts';

const POLICY = DEFAULT_POLICY;
/** Where texts of summaries are cut: quotes, results, messages, rules, requests, the last answer. Characters. */
const CUTS = [200, 240, 300, 400, 600, 1_000];

/** The text behind words of so many characters. */
const behind = (characters: number, text: string): string =>
  `${'ab '.repeat(400).slice(0, characters)} ${text} and then go on with what is left of all of this`;

/** Requests, calls, results and answers that a cut goes through the secret of, at every second of its places. */
function cutThrough(written: string): readonly (readonly Entry[])[] {
  return CUTS.flatMap((cut, number) =>
    Array.from({ length: Math.ceil(written.length / CUTS.length / 2) }, (_, turn) => {
      const at = 2 * (CUTS.length * turn + number);
      const log = new LogBuilder();
      const named = behind(Math.max(0, cut - at - 1), written);
      log.user(`Never: ${named}`);
      log.step([named], { tool: 'run_command', arguments: JSON.stringify({ command: named }), said: named });
      log.step([named], { tool: 'run_command', arguments: named });
      log.answer(named);
      return log.entries;
    }),
  );
}

describe.each(SECRETS_IN_PLACE)(
  'R28 wherever a text is cut, nothing is told of the secret in $written',
  ({ written }) => {
    it('by a summary without a model, nor by the quotes in a summary', async () => {
      for (const originals of cutThrough(written)) {
        const { entries } = await redactedOriginals(originals);
        const extract = extractiveSummary({ policy: POLICY, entries, previousSummary: null, maximumTokens: 20_000 });
        const quotes = quoteUserMessages(entries.filter(({ kind }) => kind === 'user').toReversed(), 150);
        expect(toldOfSecrets([extract, quotes].join('\n'))).toEqual([]);
      }
    });

    it('by a transcript whose texts lose their middle', async () => {
      const [originals = []] = cutThrough(written);
      const { entries } = await redactedOriginals(originals);
      for (let limit = 20; limit < 400; limit += 3) {
        const limits = {
          ...POLICY.summary.transcript,
          user: limit,
          assistant: limit,
          toolResult: limit,
          toolInput: limit,
        };
        const text = transcriptText({ entries, maximumTokens: 20_000, calibration: NO_CALIBRATION, limits });
        expect(toldOfSecrets(text)).toEqual([]);
      }
    });
  },
);

describe('originals without their secrets', () => {
  it('are the same entries where there is none', async () => {
    const log = new LogBuilder();
    log.user('Count the pumps');
    log.step(['twelve'], { arguments: '{ "path" : "a.txt" }' });
    const found = await redactedOriginals(log.entries);
    expect(found).toEqual({ entries: log.entries, count: 0 });
    expect(found.entries).toBe(log.entries);
  });

  it('name their files still: arguments stay JSON', async () => {
    const log = new LogBuilder();
    const [{ written }] = SECRETS_IN_PLACE as readonly [(typeof SECRETS_IN_PLACE)[0]];
    log.step(['ok'], { arguments: JSON.stringify({ path: 'src/a.ts', text: `say "hi" to ${written}` }) });
    const { entries, count } = await redactedOriginals(log.entries);
    const [call] = entries[0]?.content ?? [];
    if (call?.type !== 'tool_call') throw new Error('no call');
    expect(pathsInArguments(call.arguments)).toEqual(['src/a.ts']);
    expect(call.arguments).toContain('[redacted: ');
    expect(count).toBe(1);
  });

  it('lack a secret in arguments that are nested too deep to be walked', async () => {
    const log = new LogBuilder();
    const [{ written }] = SECRETS_IN_PLACE as readonly [(typeof SECRETS_IN_PLACE)[0]];
    log.step(['ok'], { arguments: nestedJson(100_000).replace('value', written) });
    expect((await redactedOriginals(log.entries)).count).toBe(1);
  });

  it('lack a key that only the name of its argument tells', async () => {
    const log = new LogBuilder();
    const key = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
    log.step(['ok'], { arguments: JSON.stringify({ aws_secret_access_key: key }) });
    const { entries } = await redactedOriginals(log.entries);
    expect(JSON.stringify(entries)).not.toContain(key);
  });

  it('keep texts apart that are redacted together', async () => {
    const log = new LogBuilder();
    const texts = ['a\n\0\u0001\0\nb', '-----BEGIN PRIVATE KEY-----', 'middle', '-----END PRIVATE KEY-----', ''];
    for (const text of texts) log.user(text);
    const { entries } = await redactedOriginals(log.entries);
    expect(entries.map(({ content }) => textOf(content))).toEqual(texts);
  });
});
