import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFigure, searchedText } from '../../../../dev/demo/input/deep-figure.ts';

const filler = (lines: number): string => 'words without any number here\n'.repeat(lines);

describe('deepFigure', () => {
  it('takes the deepest number with the fewest words before it that stand there once', () => {
    const text = `${filler(10)}it waits at most 250 ms\n${filler(2)}it keeps up to 1,500 items\n${filler(5)}`;
    expect(deepFigure(text, searchedText([text]))).toMatchObject({ anchor: 'keeps up to', value: '1,500' });
  });

  it('adds words until the place is unmistakable', () => {
    const text = `${filler(10)}the limit of reads is 40 each\nthe limit of writes is 70 each\n${filler(5)}`;
    expect(deepFigure(text, searchedText([text]))?.anchor).toBe('writes is');
  });

  it('asks for no words that another text of the job has too', () => {
    const text = `${filler(10)}keeps up to 90 items\n${filler(5)}`;
    expect(deepFigure(text, searchedText([text, 'This one Keeps up to 12 items']))).toBeNull();
  });

  it('prefers several digits to one that might be guessed', () => {
    const text = `${filler(10)}it waits at most 250 ms\nthe default of retries is 3 times\n${filler(5)}`;
    expect(deepFigure(text, searchedText([text]))?.value).toBe('250');
  });

  it.each([
    ['versions', 'works since version v12 and'],
    ['parts of longer numbers', 'the hash of it is 12.34.56 or'],
    ['negative numbers', 'it is colder than -40 degrees'],
    ['numbers in words', 'the encoding must be utf8 always'],
    ['what quoted-printable breaks', 'the number of it all is 20='],
  ])('leaves out %s', (_case, line) => {
    const text = `${filler(10)}${line}\n${filler(5)}`;
    expect(deepFigure(text, searchedText([text]))).toBeNull();
  });

  it('leaves out what stands near the beginning or the end', () => {
    const text = `the number of them all is 77 then\n${filler(20)}the count of them all is 88 then\n`;
    expect(deepFigure(text, searchedText([text]))).toBeNull();
  });

  it('names a place at which the number is the first one behind the words, whatever the text', () => {
    const line = fc.array(fc.constantFrom('alpha', 'beta', 'gamma', '12', '345', '6.5', 'v7', '(8)', 'x=9'), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.array(line, { minLength: 5, maxLength: 40 }), (lines) => {
        const text = lines.map((words) => words.join(' ')).join('\n');
        const figure = deepFigure(text, searchedText([text]));
        if (figure === null) return;
        expect(text.split(figure.anchor)).toHaveLength(2);
        const behind = text.slice(text.indexOf(figure.anchor) + figure.anchor.length);
        expect(/\d(?:[\d.,]*\d)?/u.exec(behind)?.[0]).toBe(figure.value);
      }),
    );
  });
});
