import { expect, it } from 'vitest';
import { languageOf } from '../../../src/store/search/stems.ts';

it.each([
  ['Where is the file that you read for me?', 'english'],
  ['Wir haben das nicht mit der Post geschickt und ich warte auf die Antwort', 'german'],
  ['Je ne sais pas où est le dossier que vous cherchez dans les archives', 'french'],
  ['No sé dónde está el archivo que buscas, pero lo tengo en la casa', 'spanish'],
  ['Я не знаю, где это было и как мы за это взялись', 'russian'],
  ['Δεν ξέρω πού είναι', 'greek'],
  ['明天下午三点开会', 'english'],
  ['const x = await readFile(path)', 'english'],
  ['Die hard men at work', 'english'],
  ['No, no, no!', 'english'],
  ['Ha ha ha, so funny', 'english'],
  ['Das ist gut, das ist es', 'german'],
  ['', 'english'],
])('the language of %j is %s', (text, language) => {
  expect(languageOf(text)).toBe(language);
});
