import { describe, expect, test } from 'vitest';
import { chooseTurn } from '../../../src/cli/follow/turn-choice.ts';

const chosen = (target: Parameters<typeof chooseTurn>[0], ...turns: readonly (string | null)[]): (string | null)[] => {
  const choice = chooseTurn(target);
  return turns.filter((turn) => choice.includes(turn));
};

describe('one turn out of a conversation', () => {
  test('a named turn is all that is included', () => {
    expect(chosen({ turnId: 'b' }, 'a', null, 'b', 'b', 'c')).toEqual(['b', 'b']);
  });

  test('without a name, the first turn', () => {
    expect(chosen({ turnId: null }, null, 'a', 'a', 'b')).toEqual(['a', 'a']);
  });

  test('or the first one after another, whatever came before that', () => {
    expect(chosen({ turnId: null, afterTurnId: 'b' }, 'a', 'b', 'b', 'c', 'c', 'd')).toEqual(['c', 'c']);
  });
});
