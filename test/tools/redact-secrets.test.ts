import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactSecrets, redactTexts } from '../../src/tools/runtime/redact-secrets.ts';

const LETTERS = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6';

/** Keys of well-known forms, none of them real. */
const SECRETS: readonly (readonly [string, string])[] = [
  ['aws', 'AKIAQQQQQQQQQQQQQQQQ'],
  ['aws', `aws_secret_access_key = ${LETTERS.slice(0, 40)}`],
  ['github', `ghp_${LETTERS.slice(0, 36)}`],
  ['gitlab', `glpat-${LETTERS.slice(0, 20)}`],
  ['slack', 'xoxb-123456789012-1234567890123-abcdefghijklmnopqrstuvwx'],
  ['google', `AIza${LETTERS.slice(0, 35)}`],
  ['model key', `sk-proj-${LETTERS}`],
  ['model key', `sk-ant-api03-${LETTERS}`],
  ['model key', `gsk_${LETTERS}`],
  ['stripe', `sk_live_${LETTERS.slice(0, 24)}`],
  ['jwt', `eyJ${LETTERS}.eyJ${LETTERS}.${LETTERS}`],
  ['private key', `-----BEGIN RSA PRIVATE KEY-----\n${LETTERS}\n-----END RSA PRIVATE KEY-----`],
  ['database connection string', 'postgres://admin:not-the-password@db.example.com:5432/orders'],
];

describe('R28 secrets of well-known forms', () => {
  test.each(SECRETS)('%s: %s is replaced, and the words around it stay', async (kind, secret) => {
    const { text, count, removed } = await redactSecrets(`before it\n${secret}\nafter it`);
    expect(text).toMatch(new RegExp(String.raw`^before it\n[^\n]*\[redacted: ${kind}\][^\n]*\nafter it$`, 'u'));
    expect(text).not.toContain(secret);
    expect(secret).toContain(removed[0]);
    expect(count).toBe(1);
  });

  test('each place is counted', async () => {
    const [, key] = SECRETS[2] ?? ['', ''];
    expect(await redactSecrets(`${key} and ${key}, and ${SECRETS[0]?.[1]}`)).toMatchObject({ count: 3 });
  });

  test.each([
    'The commit 3f786850e387550fdab836ed7e6dc881de23001b changed src/context/plan.ts',
    'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
    'id 01976f4e-8b1c-7d3e-9f2a-6b5c4d3e2f1a, https://example.com/a?token=short',
    'sk-test and AKIA are how such keys begin',
  ])('"%s" is no secret', async (text) => {
    expect(await redactSecrets(text)).toEqual({ text, count: 0, removed: [] });
  });

  test('an already redacted text stays as it is, whatever stands around', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.constantFrom(...SECRETS), fc.string(), async (before, [, secret], after) => {
        const once = await redactSecrets(`${before}\n${secret}\n${after}`);
        expect(await redactSecrets(once.text)).toEqual({ text: once.text, count: 0, removed: [] });
        expect(once.text.startsWith(before.slice(0, -64))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('megabytes take milliseconds of the processor, also those that look like keys', async () => {
    const prose = 'the turn adds a line to its log; const key = "eyJ" + sk-; -----BEGIN xoxb- '.repeat(14_000);
    const dense = `sk-${'a'.repeat(500_000)} eyJ${'b'.repeat(500_000)} -----BEGIN ${'PRIVATE KEY '.repeat(20_000)}`;
    const started = process.cpuUsage();
    await redactSecrets(prose);
    await redactSecrets(dense);
    const { user } = process.cpuUsage(started);
    expect(user / 1_000).toBeLessThan(2_500);
  });
});

describe('many texts', () => {
  const [, key] = SECRETS[2] ?? ['', ''];

  test('each keeps its place', async () => {
    const { texts, count } = await redactTexts([`a ${key}`, '', `${key} b ${key}`]);
    expect(texts).toEqual(['a [redacted: github]', '', '[redacted: github] b [redacted: github]']);
    expect(count).toBe(3);
  });

  test('the worker serves its other turns after each 250,000 characters', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await redactTexts(Array.from({ length: 6 }, () => 'a'.repeat(125_000)));
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});
