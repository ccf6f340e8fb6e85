import { expect, test } from 'vitest';
import { factsIn } from '../../src/verify/audit/facts.ts';

const errorsIn = (text: string): string[] =>
  factsIn('tool_result', text)
    .filter(({ kind }) => kind === 'error')
    .map(({ text: line }) => line);

test('a line of a tool result with a word for an error, or the name of one, is an error; other words are none', () => {
  const errors = ['open data.json: ENOENT there', 'The build Failed in step two', 'connection TIMED OUT after 5 s'];
  const others = ['entry 01a2 · words keeper', 'every export is an example here', 'Else the editor edits each line'];
  expect(errorsIn([...errors, ...others].join('\n'))).toEqual(errors);
});
