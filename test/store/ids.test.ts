import { describe, expect, it } from 'vitest';
import { isId, newId } from '../../src/store/database/ids.ts';

describe('newId', () => {
  it('makes UUIDs of version 7 that say when they were made and never repeat', () => {
    const before = Date.now();
    const ids = Array.from({ length: 10_000 }, newId);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u);
    expect(new Set(ids).size).toBe(ids.length);
    const made = Number.parseInt((ids[0] ?? '').replaceAll('-', '').slice(0, 12), 16);
    expect(made).toBeGreaterThanOrEqual(before);
    expect(made).toBeLessThanOrEqual(Date.now());
  });
});

describe('isId', () => {
  it('tells UUIDs from other text', () => {
    expect(isId(newId())).toBe(true);
    for (const text of ['', 'x', `${newId()}x`, newId().slice(1), 'g'.repeat(36)]) expect(isId(text)).toBe(false);
  });
});
