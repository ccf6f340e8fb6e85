import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitsPattern, mayFallUnder, ruleFor, ruleName } from '../../src/turn/approval-rules.ts';

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
    expect(ruleFor(rules, { tool: 'run_command', input: { command } }), JSON.stringify(command)).not.toBeNull();
  expect(ruleFor(rules, { tool: 'run_command', input: { command: 'git\npull' } })).toBeNull();
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

test('the first rule whose tool and argument patterns all fit is the one; arguments that are no text count as JSON', () => {
  const rules = [
    { tool: 'run_command', when: { command: '*rm *' } },
    { tool: 'mcp_*', when: { force: 'true', path: '/etc/*' } },
    { tool: 'mcp_delete' },
  ];
  const found = (tool: string, input: unknown): string | null => {
    const rule = ruleFor(rules, { tool, input });
    return rule === null ? null : ruleName(rule);
  };
  expect(found('run_command', { command: 'sudo rm -rf /' })).toBe('run_command(command: *rm *)');
  expect(found('run_command', { command: 'ls' })).toBeNull();
  expect(found('run_command', {})).toBeNull();
  expect(found('mcp_copy', { force: true, path: '/etc/passwd' })).toBe('mcp_*(force: true, path: /etc/*)');
  expect(found('mcp_delete', { force: false, path: '/etc/x' })).toBe('mcp_delete');
  expect(mayFallUnder(rules, 'mcp_copy')).toBe(true);
  expect(mayFallUnder(rules, 'write_file')).toBe(false);
});
