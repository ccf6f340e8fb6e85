import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { withoutEncodedData } from '../../src/context/log/readable-text.ts';

const MARK = /characters of encoded data left out/u;

test.each([
  ['one run', (data: string) => data, 1],
  ['lines of mail', (data: string) => data.replaceAll(/.{76}/gu, '$&\r\n'), 1],
  ['two runs', (data: string) => `${data} and ${data}`, 2],
])('%s: the data is left out, and what stands around it stays', (_, write, runs) => {
  const text = withoutEncodedData(`Look at\n${write(randomBytes(6_000).toString('base64'))}\nthen go on.`);
  expect(text).toMatch(/^Look at\n/u);
  expect(text).toMatch(/\nthen go on\.$/u);
  expect(text.match(new RegExp(MARK, 'gu'))).toHaveLength(runs);
  expect(text.length).toBeLessThan(500);
});

test('prose, short data and lines of one sign stay as they are', () => {
  for (const text of ['word '.repeat(2_000), randomBytes(600).toString('base64'), '-'.repeat(5_000), '']) {
    expect(withoutEncodedData(text)).toBe(text);
  }
});

test('a run of fifty million characters is left out as a short one is', () => {
  const data = randomBytes(300).toString('base64').repeat(125_000);
  expect(withoutEncodedData(data)).toMatch(MARK);
});
