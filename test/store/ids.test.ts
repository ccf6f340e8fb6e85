import { expect, test } from 'vitest';
import { isId, newId, timeOfId } from '../../src/store/database/ids.ts';

test('an id is a UUIDv7 that tells when it was made', () => {
  const before = Date.now();
  const id = newId();
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u);
  expect(isId(id)).toBe(true);
  expect(timeOfId(id)).toBeGreaterThanOrEqual(before);
  expect(timeOfId(id)).toBeLessThanOrEqual(Date.now());
  expect(timeOfId('01890a5d-ac96-774b-bcce-b302099a8057')).toBe(0x01890a5dac96);
});

test.each(['', '01890a5d', `x${newId()}`, `${newId()}x`, newId().replaceAll('-', '')])('"%s" is no id', (text) => {
  expect(isId(text)).toBe(false);
});
