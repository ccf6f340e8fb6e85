import { withoutCode } from './code-blocks.ts';
import { wordsIn } from './unspaced-words.ts';

/** By the rules of Unicode: no stop before a small letter ends one ("e.g. this"). */
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

/** What may stand before what somebody says without changing what it says: "Please remember that I …". */
const LEADS = new Set(
  'please remember note that this also and but so ok okay well hi hello thanks important reminder rule preference from now on going forward i we bitte merk merke dir dass wichtig hinweis regel ab jetzt ich wir'.split(
    ' ',
  ),
);
/** … and behind it. */
const TRAILS = new Set('please thanks thank you ok bitte danke'.split(' '));

/** The same where no space parts it from the rest: "请注意，…，谢谢". */
const UNSPACED_LEAD =
  /^\s*(?:(?:请|請)(?:你|您)?(?:记住|记得|注意|記住|記得)?|谢谢|謝謝|你好|您好|覚えておいて|お願い(?:です|します)?|기억해(?: ?줘| ?주세요)?)\s*[，,、:：]\s*/u;
const UNSPACED_TRAIL =
  /[，,、]\s*(?:谢谢(?:你|您)?|謝謝|多谢|拜托了?|お願いします|ありがとう|부탁해요?|감사합니다)[。.!！\s]*$/u;

const OF_OTHERS = /^\s*>/u;
const LIST_ITEM = /^\s*(?:[-*•–]|\p{N}{1,3}[.)])\s/u;
/** A line that goes on: who breaks lines where they are long does so within a sentence. */
const GOES_ON = /^\s*\p{Ll}/u;
const ANNOUNCES = /[:：]\s*$/u;
/** A list whose heading says so is what its writer wants … */
const WANTED =
  /\b(?:rules?|preferences?|prefer|remember|notes?|please|always|want|follow|conventions?|guidelines?|regeln?|bitte|immer|merk\w*)\b|规则|规范|请|記|记|偏好|ルール|규칙/iu;
/** … but not when it says that somebody else does, or that it is what he does not want. */
const DENIED_OR_REPORTED =
  /\b(?:not|no|never|nobody|none|without|avoid|stop|ignore|against|instead|says?|said|asks?|asked|claims?|claimed|tells?|told|wants|wrote|writes|suggests?|nicht|nie|kein\w*|ohne|sagt\w*|will)\b|n['’]t\b|不|别|別|勿|ない|禁|说|說|言/iu;

/** Words as they are compared: without case, punctuation and white space. */
export function comparedWords(text: string): string[] {
  return wordsIn(text.toLowerCase(), /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu);
}

/** The sentences of a text, each as its words in a row. */
export function sentencesOf(text: string): readonly string[] {
  return blocksOf(text, () => true).flatMap((block) => wordsOfSentences(block).map((words) => words.join(' ')));
}

/**
 * Which of these sentences somebody says as a whole: part of one may say the opposite ("never …"), or be what he says that others
 * say. What he quotes line by line, code, and lists of what others want or he does not, are not his.
 * @param sentences words in a row, as of `sentencesOf`
 */
export function saidAsWhole(sentences: ReadonlySet<string>, text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const block of blocksOf(text, isOwnList)) {
    for (const words of wordsOfSentences(block)) {
      for (const said of withoutCourtesies(words)) if (sentences.has(said)) found.add(said);
    }
  }
  return found;
}

function wordsOfSentences(block: string): string[][] {
  return Array.from(SENTENCES.segment(block), ({ segment }) =>
    comparedWords(segment.replace(UNSPACED_LEAD, '').replace(UNSPACED_TRAIL, '')),
  ).filter((words) => words.length > 0);
}

function isOwnList(heading: string): boolean {
  return WANTED.test(heading) && !DENIED_OR_REPORTED.test(heading);
}

/** The sentence, and what is left of it without what only leads to it or ends it. */
function withoutCourtesies(words: readonly string[]): string[] {
  const begin = words.findIndex((word) => !LEADS.has(word));
  const end = words.findLastIndex((word) => !TRAILS.has(word)) + 1;
  const said: string[] = [];
  for (let from = 0; from <= Math.max(0, begin); from += 1) {
    for (let through = words.length; through >= Math.max(end, from + 1); through -= 1) {
      said.push(words.slice(from, through).join(' '));
    }
  }
  return said;
}

/**
 * Stretches of a text that no sentence goes beyond: paragraphs, items of lists, lines.
 * @param isTaken whether the items below a heading (a line that ends with a colon) are
 */
function blocksOf(text: string, isTaken: (heading: string) => boolean): string[] {
  const blocks: string[] = [];
  let isBelowOther = false;
  let goesOn = false;
  for (const line of withoutCode(text).split('\n')) {
    if (OF_OTHERS.test(line) || line.trim() === '') {
      goesOn = false;
      continue;
    }
    if (!goesOn && !LIST_ITEM.test(line)) isBelowOther = false;
    if (!isBelowOther) {
      const last = blocks.length - 1;
      if (goesOn && GOES_ON.test(line)) blocks[last] = `${blocks[last] ?? ''} ${line}`;
      else blocks.push(line.replace(LIST_ITEM, ''));
    }
    if (ANNOUNCES.test(line)) isBelowOther = !isTaken(blocks.at(-1) ?? line);
    goesOn = true;
  }
  return blocks;
}
