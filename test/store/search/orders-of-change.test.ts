import { describe, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { useTestStore } from '../support/store-builders.ts';
import { askOfTwoFacts } from '../support/two-facts.ts';

let sql: Database;
useTestStore((store) => {
  ({ sql } = store);
});

describe('an order to change something', () => {
  it.each([
    ['Use tabs for indentation.', 'Switch to spaces for indentation.', 'What do we use for indentation?'],
    ['The branch is called feature/login.', 'Rename the branch to feature/auth.', 'What is the branch called?'],
    ['The release date is 3 May 2026.', "Let's push the release to 10 May 2026.", 'When is the release?'],
    ['The log level is info.', 'Please set the log level to debug.', 'What is the log level?'],
    [
      'The session timeout is 30 minutes.',
      'Lower the session timeout to 15 minutes.',
      'How long is the session timeout?',
    ],
    ['The weekly sync is on Tuesday at 10.', 'Move the weekly sync to Thursday at 2.', 'When is the weekly sync?'],
    [
      'The test fixtures are in test/data.',
      'You should move the test fixtures to test/fixtures.',
      'Where are the test fixtures?',
    ],
    ['We deploy with Jenkins.', 'From now on, deploy with Buildkite.', 'What do we deploy with?'],
    ['The max upload size is 10 MB.', 'Please raise the upload limit to 25 MB.', 'What is the max upload size?'],
    ['Our package manager is npm.', 'We will switch the package manager to pnpm.', 'What is our package manager?'],
    ['The button is green.', 'Change the button to blue, please.', 'What is the color of the button?'],
    [
      'Write the commit messages in German.',
      'Switch to English for the commit messages.',
      'Which language do the commit messages have?',
    ],
    [
      'The API docs are generated with JSDoc.',
      'Stop using JSDoc for the API docs.',
      'What are the API docs generated with?',
    ],
    [
      'The budget for the launch is 40,000 euros.',
      'Cut the launch budget to 25,000 euros.',
      'What is the budget for the launch?',
    ],
    ['The demo is on 12 June.', 'Could you postpone the demo to 19 June?', 'When is the demo?'],
    [
      'The service account is called bot-a.',
      'Replace the service account with bot-b.',
      'What is the service account called?',
    ],
    ['The backup runs at 2 am.', "Ok, let's move the backup to 4 am.", 'When does the backup run?'],
    [
      'The retention period is 30 days.',
      "Thanks. We'll extend the retention period to 90 days.",
      'How long is the retention period?',
    ],
    ['Format the dates as MM/DD/YYYY.', 'Go back to ISO for the dates.', 'How are the dates formatted?'],
    ['Der Branch heißt feature/login.', 'Benenne den Branch in feature/auth um.', 'Wie heißt der Branch?'],
    ['Das Release ist am 3. Mai.', 'Lass uns das Release auf Freitag verschieben.', 'Wann ist das Release?'],
    [
      'Nimm Tabs für die Einrückung.',
      'Wechsle zu Leerzeichen für die Einrückung.',
      'Was nehmen wir für die Einrückung?',
    ],
    ['Das Limit liegt bei 5 GB.', 'Bitte erhöhe das Limit auf 8 GB.', 'Wie hoch ist das Limit?'],
    ['La réunion est lundi à 10 heures.', 'Déplace la réunion à jeudi.', 'Quand est la réunion ?'],
    ['La branche est feature/login.', 'Renomme la branche en feature/auth.', 'Quelle est la branche ?'],
    ['La reunión es el lunes.', 'Cambia la reunión al jueves.', '¿Cuándo es la reunión?'],
    ['El límite es de 10 MB.', 'Por favor, sube el límite a 25 MB.', '¿Cuál es el límite?'],
    ['La riunione è lunedì.', 'Sposta la riunione a giovedì.', 'Quando è la riunione?'],
    ['A reunião é na terça-feira.', 'Mude a reunião para sexta-feira, por favor.', 'Quando é a reunião?'],
    ['De vergadering is op dinsdag.', 'Verplaats de vergadering naar donderdag.', 'Wanneer is de vergadering?'],
    ['Spotkanie jest we wtorek.', 'Przełóż spotkanie na czwartek.', 'Kiedy jest spotkanie?'],
    ['Релиз во вторник.', 'Перенеси релиз на четверг, пожалуйста.', 'Когда релиз?'],
    ['Toplantı saati 10.', 'Toplantı saatini 11 olarak değiştir.', 'Toplantı saati kaç?'],
    ['分支叫 feature/login。', '把分支重命名为 feature/auth。', '分支叫什么？'],
    ['ブランチ名は feature/login です。', 'ブランチ名を feature/auth に変えてください。', 'ブランチ名は何ですか？'],
    ['브랜치 이름은 feature/login입니다.', '브랜치 이름을 feature/auth로 바꿔 주세요.', '브랜치 이름은 무엇인가요?'],
  ])('supersedes %j: %j', async (older, newer, query) => {
    expect(await askOfTwoFacts(sql, { older, newer, query })).toEqual({ isNewerFirst: true, isMarked: true });
  });

  it.each([
    ['The light is green.', 'Switch on the light.', 'What is the light?'],
    ['The branch is called feature/login.', 'Push the branch to origin.', 'What is the branch called?'],
    ['The branch with the fix is called feature/login-2.', 'Switch to the main branch.', 'What is the branch called?'],
    ['The config file has 300 lines.', 'Move the config file to etc.', 'How long is the config file?'],
    ['The function lives in parse.ts.', 'Change the function to return null.', 'Where does the function live?'],
    ['The meeting is on Tuesday.', 'Move on to the notes of the meeting.', 'When is the meeting?'],
    ['The timeout is 30 seconds.', "Don't raise the timeout to 60 seconds.", 'How long is the timeout?'],
    [
      'Use tabs for indentation.',
      'Switch to spaces for indentation if the linter complains.',
      'What do we use for indentation?',
    ],
    ['The release is on 3 May.', 'Should we push the release to 10 May?', 'When is the release?'],
    ['The release is on 3 May.', 'Push the release to 10 May?', 'When is the release?'],
    ['The staging server is in Frankfurt.', 'Move the production server to Dublin.', 'Where is the server?'],
    ['The red button is 40 pixels wide.', 'Set the blue button to 60 pixels.', 'How wide is the button?'],
    ['The upload limit is per user.', 'Raise the upload limit to 50 MB.', 'What is the upload limit?'],
    ['The table is in the kitchen.', 'Set the table for six.', 'Where is the table?'],
    ['Use Redis for the cache.', 'Switch to Kafka for the queue.', 'What do we use for the cache?'],
    ['The tests are in test/unit.', 'Stop the tests after 10 minutes.', 'Where are the tests?'],
    ['The deadline for the grant is May 3.', "Let's push the thesis to June 9.", 'When is the deadline?'],
    ['The report is due on Friday.', 'Update the report to mention the outage.', 'When is the report due?'],
    ['The database is Postgres 16.', 'We could move the database to Postgres 17.', 'What is the database?'],
    ['The parser has 300 lines.', 'Extend the parser to handle comments.', 'How long is the parser?'],
    ['The heating is set to 21.', 'Never set the heating to 25.', 'What is the heating set to?'],
    ['The invoice is in the blue folder.', 'Please send the invoice to Meyer.', 'Where is the invoice?'],
    ['The plumber comes on Monday.', 'Ask the plumber to change the tap.', 'When does the plumber come?'],
    ['Das Licht ist grün.', 'Schalte das Licht ein.', 'Was ist das Licht?'],
    ['Die Prüfung ist am Montag.', 'Verschiebe nicht die Prüfung.', 'Wann ist die Prüfung?'],
    ['La réunion est lundi.', 'Prépare la réunion avec Anne.', 'Quand est la réunion ?'],
    ['O servidor fica em Lisboa.', 'Reinicie o servidor.', 'Onde fica o servidor?'],
    ['De server staat in Utrecht.', 'Herstart de server.', 'Waar staat de server?'],
    ['Serwer jest w Krakowie.', 'Uruchom serwer ponownie.', 'Gdzie jest serwer?'],
    ['Встреча во вторник.', 'Подготовь встречу с Анной.', 'Когда встреча?'],
    ['Toplantı saati 10.', 'Toplantı saatini değiştirme.', 'Toplantı saati kaç?'],
  ])('leaves %j beside %j', async (older, newer, query) => {
    expect((await askOfTwoFacts(sql, { older, newer, query })).isMarked).toBe(false);
  });
});

describe('a change that is told in another language', () => {
  it.each([
    ['A reunião é na terça-feira.', 'A reunião mudou para quinta-feira.', 'Quando é a reunião?'],
    ['O servidor fica em Lisboa.', 'O servidor já não fica em Lisboa.', 'Onde fica o servidor?'],
    ['Toplantı salı günü.', 'Toplantı artık perşembe günü.', 'Toplantı ne zaman?'],
    ["İstanbul'da oturuyorum.", "Artık Ankara'da oturuyorum.", 'Nerede oturuyorum?'],
    ['Релиз во вторник.', 'Релиз перенесли на четверг.', 'Когда релиз?'],
    ['Сервер во Франкфурте.', 'Сервер больше не во Франкфурте.', 'Где сервер?'],
    ['De vergadering is op dinsdag.', 'De vergadering is verplaatst naar donderdag.', 'Wanneer is de vergadering?'],
    ['De limiet is 10 MB.', 'De limiet is verhoogd naar 25 MB.', 'Wat is de limiet?'],
    ['Spotkanie jest we wtorek.', 'Spotkanie zostało przełożone na czwartek.', 'Kiedy jest spotkanie?'],
    ['Limit wynosi 10 MB.', 'Limit został zwiększony do 25 MB.', 'Ile wynosi limit?'],
  ])('%j is superseded by %j', async (older, newer, query) => {
    expect(await askOfTwoFacts(sql, { older, newer, query })).toEqual({ isNewerFirst: true, isMarked: true });
  });

  it.each([
    ['Ada: Я живу в Москве.', 'Boris: Я больше не живу в Туле.', 'Кто где живёт?'],
    ['Ada: Ik woon in Utrecht.', 'Bas: Ik woon niet meer in Delft.', 'Waar woont Ada?'],
    ['Serwer testowy jest w Krakowie.', 'Serwer produkcyjny został przeniesiony do Gdyni.', 'Gdzie jest serwer?'],
    ['O carro da Marta é vermelho.', 'O carro do Paulo agora é verde.', 'De que cor é o carro?'],
    ['De rode bus gaat om acht uur.', 'De blauwe bus gaat nu om negen uur.', 'Wanneer gaat de bus?'],
    ["Kardeşim İstanbul'da oturuyor.", "Ablam artık Ankara'da oturuyor.", 'Kim nerede oturuyor?'],
    ['Кот спит на диване.', 'Собака теперь спит в коридоре.', 'Кто где спит?'],
  ])('%j stays true beside %j', async (older, newer, query) => {
    expect((await askOfTwoFacts(sql, { older, newer, query })).isMarked).toBe(false);
  });
});
