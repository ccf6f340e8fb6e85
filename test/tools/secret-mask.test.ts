import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecretMask, maskText } from '../../src/tools/runtime/secret-mask.ts';

const SECRETS = ['sk-aaaaaaaa', 'sk-aaaaaaaabbbb', 'abababab'];

test('a stream is masked as the whole text is, wherever it is cut', () => {
  const part = fc.oneof(
    fc.constantFrom(...SECRETS),
    fc.string({ maxLength: 5 }),
    fc.constantFrom('sk-', 'aaaa', 'abab'),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(80), { maxLength: 4 }), (parts, cuts) => {
      const text = parts.join('');
      const bytes = Buffer.from(text);
      const mask = createSecretMask(SECRETS);
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((to, index) => Buffer.from(mask.push(bytes.subarray(places[index], to))));
      const masked = Buffer.concat([...pieces, mask.end()]).toString();
      for (const secret of SECRETS) expect(masked).not.toContain(secret);
      expect(masked.replaceAll('[masked key]', '').length).toBeLessThanOrEqual(text.length);
    }),
  );
});

test('without secrets, and with values too short for keys, nothing changes', () => {
  expect(maskText('short text', ['short', ''])).toBe('short text');
  expect(Buffer.from(createSecretMask(['abc']).push(Buffer.from('abc'))).toString()).toBe('abc');
});

test('a key that contains another is replaced whole', () => {
  expect(maskText('x sk-aaaaaaaabbbb y', SECRETS)).toBe('x [masked key] y');
});
