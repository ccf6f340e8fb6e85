import { describe, expect, it } from 'vitest';
import { useTestStore } from '../support/store-builders.ts';
import { askOfTwoFacts } from '../support/two-facts.ts';

const { sql } = useTestStore();

describe('of two facts', () => {
  it.each([
    ['Ada: My favorite color is blue.', 'Ada: Green is my favorite color these days.', "What is Ada's favorite color?"],
    [
      'The staging database listens on port 5433.',
      'We changed the staging database port to 6000.',
      'Which port does the staging database use?',
    ],
    [
      'The deploy key is called alpha-7.',
      'Correction: the deploy key is beta-9, not alpha-7.',
      'What is the deploy key called?',
    ],
    ['The deploy key is called alpha-7.', 'The deploy key is called beta-9.', 'What is the deploy key called?'],
    ['Ada: My dog is called Rex.', 'Ada: I renamed my dog, he is Bruno now.', "What is the name of Ada's dog?"],
    ['Ben: The meeting is on Tuesday at 10.', 'Ben: The meeting got pushed to Thursday at 3.', 'When is the meeting?'],
    [
      'Ich wohne in Hamburg und arbeite bei der Bank.',
      'Ich wohne jetzt in Berlin und arbeite bei der Post.',
      'Wo wohne ich?',
    ],
    ['Le serveur est à Paris.', 'Nous avons déplacé le serveur à Lyon.', 'Où est le serveur ?'],
    [
      'I live in Paris with my family.',
      'Correction: I moved to Berlin last week, I no longer live in Paris.',
      'Where do I live?',
    ],
    ['My favourite colour is green.', 'FYI: my favourite colour is blue.', 'What is my favourite colour?'],
    ['We deploy on Fridays at noon.', '**Note:** we deploy on Mondays, no longer on Fridays.', 'When do we deploy?'],
  ])('%j goes below %j', async (older, newer, query) => {
    expect(await askOfTwoFacts(sql, { older, newer, query })).toEqual({ isNewerFirst: true });
  });

  it('the one that was said later goes first, by the times at their heads where they name any', async () => {
    const [older, newer] = [
      '[10:00 am on 9 March, 2021] The boiler is set to 50.',
      '[10:00 am on 9 May, 2021] The boiler is set to 60.',
    ];
    expect(
      await askOfTwoFacts(sql, { older, newer, query: 'What is the boiler set to?' }, { isImported: true }),
    ).toEqual({
      isNewerFirst: true,
    });
  });
});
