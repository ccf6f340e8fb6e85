import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/cli/usage-error.ts';
import { parseOptions } from '../../../dev/demo/options.ts';

describe('parseOptions', () => {
  it('reads 41 packages with a window of 32k, compaction and kills when nothing is said', () => {
    expect(parseOptions([])).toEqual({
      window: 32_768,
      compaction: true,
      kills: true,
      keep: false,
      json: false,
      model: null,
      baseUrl: null,
      namedServers: false,
      recall: true,
      summaries: true,
    });
  });

  it.each([
    ['8k', 8_192],
    ['200k', 204_800],
  ])('takes a window of %s', (size, tokens) => {
    expect(parseOptions(['--window', size])?.window).toBe(tokens);
  });

  it.each([
    [['--window', '32'], 'A window is 8k, 32k, 200k'],
    [['--window', '2k'], 'from 4k to 1024k'],
    [['--model', 'claude'], 'A model is provider/model'],
    [['--model', 'a/b', '--base-url', 'localhost'], 'A base URL begins with http://'],
    [['--base-url', 'http://localhost:1'], '--base-url needs a model'],
    [['--kill'], "unknown option '--kill'"],
    [['there'], 'too many arguments'],
  ])('refuses %j in words', (args, words) => {
    expect(() => parseOptions(args)).toThrow(UsageError);
    expect(() => parseOptions(args)).toThrow(words);
  });
});
