import { describe, expect, it } from 'vitest';
import { loadEntries } from '../../../bench/memory/load-entries.ts';
import type { Database } from '../../../src/store/database.ts';
import { searchMemory } from '../../../src/store/search.ts';
import { useTestStore } from '../support/store-builders.ts';
import { askOfTwoFacts } from '../support/two-facts.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

describe('of two facts', () => {
  it.each([
    [
      'Ada: I live in Boston with my sister.',
      "Ada: I've moved to Denver, loving the mountains!",
      'Where does Ada live?',
    ],
    ['I live in Boston.', "I've moved to Denver.", 'Where do I live?'],
    ['Ada: I work at Google as a designer.', 'Ada: I started my new job at Meta last week.', 'Where does Ada work?'],
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
    ['我住在北京。', '我现在住在上海。', '我住在哪里?'],
    ['我住在北京。', '我搬到上海了。', '我住在哪里?'],
    ['会議は金曜日の15時です。', '会議は木曜日の10時に変更になりました。', '会議はいつですか?'],
    ['私は東京に住んでいます。', '大阪に引っ越しました。', '私はどこに住んでいますか?'],
    ['회의는 금요일 3시입니다.', '회의는 목요일 10시로 변경되었습니다.', '회의는 언제예요?'],
    ['저는 서울에 살고 있어요.', '부산으로 이사했어요.', '저는 어디에 살고 있나요?'],
    [
      'The weekly meeting with the design team is on Thursday at 3 pm in room Elbe.',
      'The design team meeting moved to Friday at 9 am.',
      'When is the weekly meeting with the design team?',
    ],
    ['The max upload size is 10 MB.', 'I raised the upload limit to 25 MB.', 'What is the max upload size?'],
    [
      'We deploy with Jenkins every night.',
      'We switched from Jenkins to GitHub Actions for deploys.',
      'What do we use to deploy every night?',
    ],
    ['Unser Server steht in Frankfurt.', 'Wir haben den Server nach Falkenstein verlegt.', 'Wo steht unser Server?'],
    ['Le serveur est à Paris.', 'Nous avons déplacé le serveur à Lyon.', 'Où est le serveur ?'],
    ['サーバーの場所は東京です。', 'サーバーを大阪に移しました。', 'サーバーの場所はどこですか'],
    ['服务器在北京。', '服务器已经迁到上海。', '服务器在哪里？'],
    ['Our max upload size is 10 MB.', 'Update: I raised the upload limit to 25 MB.', 'What is our max upload size?'],
    [
      'I live in Paris with my family.',
      'Correction: I moved to Berlin last week, I no longer live in Paris.',
      'Where do I live?',
    ],
    ['My favourite colour is green.', 'FYI: my favourite colour is blue.', 'What is my favourite colour?'],
    ['We deploy on Fridays at noon.', '**Note:** we deploy on Mondays, no longer on Fridays.', 'When do we deploy?'],
  ])('%j is superseded by %j', async (older, newer, query) => {
    expect(await askOfTwoFacts(sql, { older, newer, query })).toEqual({ isNewerFirst: true, isMarked: true });
  });

  it.each([
    [
      'Ada: I went hiking with Dev on Saturday.',
      'Ada: I went hiking with Anand on Sunday.',
      'Who did Ada go hiking with?',
    ],
    [
      'Ada: I read the book Emma and loved it.',
      'Ada: I read the book Matilda and loved it.',
      'What books has Ada read?',
    ],
    [
      'Ben: We visited the museum in Paris in May.',
      'Ben: We visited the museum in Rome in June.',
      'Which museum did Ben visit?',
    ],
    ['Ada: My sister Leela has a dog.', 'Ada: My sister Anu now has a cat.', "What pet does Ada's sister have?"],
    ['Ada: I painted a sunset last week.', 'Ada: I painted a horse last week.', 'What did Ada paint?'],
    [
      'The test suite takes 4 minutes on CI.',
      'The lint takes 2 minutes on CI.',
      'How long does the test suite take on CI?',
    ],
    ['Ada: My dog is called Rex.', 'Ben: My dog is called Bo.', 'What is the dog called?'],
    [
      'Ada Bell is a member of the book club.',
      'Ada Bell is a member of the rowing club.',
      'Which club is Ada Bell a member of?',
    ],
    ['我住在北京。', '小明搬到上海了。', '我住在哪里?'],
    ['私は東京に住んでいます。', '弟は大阪に引っ越しました。', '私はどこに住んでいますか?'],
    ['저는 서울에 살고 있어요.', '동생이 부산으로 이사했어요.', '저는 어디에 살고 있나요?'],
    ['Rita from sales has a new laptop.', 'Omar from support has a new laptop.', 'Who has a new laptop?'],
    ['The red team meets on Tuesdays.', 'The blue team now meets on Thursdays.', 'When do the teams meet?'],
    ['Ada lives in Rome.', 'Ben lives in Oslo now.', 'Who lives where?'],
    [
      'The weather is fine in Utrecht.',
      'The key of the back door is now in the shed.',
      'Where is the key of the door?',
    ],
    ['The staging server is in Frankfurt.', 'The production server moved to Dublin.', 'Where is each server?'],
    [
      'Der Schlüssel vom Keller hängt im Flur.',
      'Der Schlüssel vom Dachboden hängt jetzt in der Küche.',
      'Wo hängt der Schlüssel?',
    ],
  ])('%j stays true beside %j', async (older, newer, query) => {
    expect((await askOfTwoFacts(sql, { older, newer, query })).isMarked).toBe(false);
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
      isMarked: true,
    });
  });
});

it('what is said of one numbered thing updates nothing that is said of another, whatever numbers stand beside it', async () => {
  const words = 'seal filter steady motor line gauge shift quiet tank check valve log'.split(' ');
  const day = (pump: number, number: number): string =>
    `Day ${number}: ${Array.from({ length: 11 }, (_, at) => words[(pump * 31 + number * (at + 5) + at * at) % 12]).join(' ')}.`;
  const log = (pump: number): string =>
    [
      `# pump-${pump}`,
      `file: logs/pump-${pump}.txt`,
      `serial: SN${217_600 + 37 * pump}X${pump}`,
      '',
      ...Array.from({ length: 40 }, (_, index) =>
        index === 4 ? `The pump opens at ${20 + pump}.1 bar.` : day(pump, index + 1),
      ),
    ]
      .map((line, index) => `${index + 1}\t${line}`)
      .join('\n');
  const task = Array.from({ length: 41 }, (_, index) => `- pump-${index + 1}: logs/pump-${index + 1}.txt`).join('\n');
  const texts = [
    task,
    ...Array.from({ length: 41 }, (_, index) => [`Reading pump-${index + 1}.`, log(index + 1)]).flat(),
  ];
  const { conversationId, entryIds } = await loadEntries(sql, texts.length, (index) => texts[index] ?? '');
  for (const number of [1, 4, 9]) {
    const [first] = await searchMemory(sql, { conversationId, query: `pump-${number} opens at`, limit: 3 });
    expect([number, entryIds.indexOf(first?.entryId ?? ''), first?.updatedBy]).toEqual([number, 2 * number, null]);
  }
});
