import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitsPattern, mayFallUnder, ownRuleName, ruleName, rulesFor } from '../../src/turn/approval-rules.ts';

test('a star stands for any characters, line ends too, and a pattern without one for itself alone', () => {
  for (const [pattern, text] of [
    ['*', ''],
    ['rm *', 'rm -rf\n/'],
    ['*push*', 'git push --force'],
    ['a*b*a', 'abba'],
    ['(a+)+$', '(a+)+$'],
  ] as const)
    expect(fitsPattern(pattern, text), pattern).toBe(true);
  for (const [pattern, text] of [
    ['rm *', 'rm'],
    ['aba*aba', 'aba'],
    ['a*b*b', 'ab'],
    ['x', 'xx'],
  ] as const)
    expect(fitsPattern(pattern, text), pattern).toBe(false);
});

test('a rule for a part of a command finds it on any line of the command', () => {
  const rules = [{ tool: 'run_command', when: { command: '*git push*' } }];
  for (const command of ['git push', 'cd app\ngit push --force\n\nls', 'ls\r\n\tgit push\u2028ls', '\n\ngit push'])
    expect(rulesFor(rules, { tool: 'run_command', input: { command } }), JSON.stringify(command)).toEqual(rules);
  expect(rulesFor(rules, { tool: 'run_command', input: { command: 'git\npull' } })).toEqual([]);
});

test('patterns agree with the regular expression they mean', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 }), (pattern, text) => {
      const meant = new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`).test(text);
      expect(fitsPattern(pattern, text)).toBe(meant);
    }),
  );
});

test('a call falls under every rule whose tool and argument patterns all fit; arguments that are no text count as JSON', () => {
  const rules = [
    { tool: 'run_command', when: { command: '*rm *' } },
    { tool: 'mcp_*', when: { force: 'true', path: '/etc/*' } },
    { tool: 'mcp_delete' },
  ];
  const found = (tool: string, input: unknown): string[] => rulesFor(rules, { tool, input }).map(ruleName);
  expect(found('run_command', { command: 'sudo rm -rf /' })).toEqual(['run_command(command: *rm *)']);
  expect(found('run_command', { command: 'ls' })).toEqual([]);
  expect(found('run_command', {})).toEqual([]);
  expect(found('mcp_copy', { force: true, path: '/etc/passwd' })).toEqual(['mcp_*(force: true, path: /etc/*)']);
  expect(found('mcp_delete', { force: true, path: '/etc/x' })).toEqual([
    'mcp_*(force: true, path: /etc/*)',
    'mcp_delete',
  ]);
  expect(found('mcp_delete', { force: false, path: '/etc/x' })).toEqual(['mcp_delete']);
  expect(mayFallUnder(rules, 'mcp_copy')).toBe(true);
  expect(mayFallUnder(rules, 'write_file')).toBe(false);
});

test('two rules never have the same name, nor the name of what a tool asks by itself', () => {
  expect(ruleName({ tool: 'x', when: { a: '1, b: 2' } })).toBe('x(a: "1, b: 2")');
  expect(ruleName({ tool: 'x', when: { a: '1', b: '2' } })).toBe('x(a: 1, b: 2)');
  expect(ruleName({ tool: 'tool x' })).not.toBe(ownRuleName('x'));
  const words = fc.string({
    unit: fc.constantFrom('a', ' ', ',', ':', '(', ')', '"', '\\'),
    minLength: 1,
    maxLength: 6,
  });
  const rule = fc.record({ tool: words, when: fc.dictionary(words, words, { maxKeys: 2, noNullPrototype: true }) });
  const meaning = ({ tool, when }: { tool: string; when: Record<string, string> }) =>
    JSON.stringify([tool, Object.entries(when)]);
  fc.assert(
    fc.property(rule, rule, (one, other) => {
      expect(ruleName(one) === ruleName(other)).toBe(meaning(one) === meaning(other));
    }),
    { numRuns: 2_000 },
  );
});
