import { headOf } from './clip.ts';
import { withoutCode } from './code-blocks.ts';
import { textOf } from './content.ts';
import type { Entry } from './entry.ts';

/** Heads each rule where a summary keeps it. */
export const RULE_MARK = 'Rule of the user: ';

/** A longer sentence is cut here. */
const SENTENCE_CHARACTERS = 400;
/** Of one message that are looked at: a rule behind a pasted log must be found, a log must not take long. */
const MESSAGE_CHARACTERS = 100_000;
/** Of all rules together; the newest stay. */
const RULES_CHARACTERS = 6_000;

/** By what a sentence says that it holds from then on, in languages that people write to agents in. */
const BINDING = new RegExp(
  [
    // Words between which others may stand are left to the first of them.
    String.raw`(?<![\p{L}\p{N}])(?:`,
    [
      "from now on|from here on|from this point|henceforth|going forward|always|never|must|mustn'?t|do not|don['’]t|should|shouldn['’]t",
      'make sure|be sure|remember|keep in mind|prefer|avoid|at all times|every time|whenever|unless|not allowed|forbidden|no longer',
      'ab jetzt|ab sofort|von nun an|künftig|immer|nie|niemals|muss|musst|müssen|darf|darfst|dürfen|bitte nicht|auf keinen fall|stets',
      'achte darauf|vermeide|keinesfalls|nicht mehr|désormais|dorénavant|toujours|jamais|il faut|doit|dois|devez|évite|évitez|interdit',
      'siempre|nunca|a partir de ahora|de ahora en adelante|debes?|evita|prohibido|sempre|a partir de agora|deve|devi|mai',
      'всегда|никогда|отныне|нельзя|должен|должна|должны|항상|절대|반드시|앞으로',
    ].join('|'),
    String.raw`)(?![\p{L}\p{N}])`,
    '|必须|必須|不要|不得|禁止|总是|總是|永远|永遠|从现在|從現在|今後|常に|必ず|しないで|してはいけ|하지 마',
  ].join(''),
  'iu',
);
const SENTENCE_END = /(?<=[.!?;]["”’)]?)\s+|(?<=[。！？；])|\n+/u;

/** Sentences of a user's message that bind what comes after, each on one line, word for word. Blocks of code hold none. */
export function ruleSentences(text: string): string[] {
  return withoutCode(headOf(text, MESSAGE_CHARACTERS))
    .split(SENTENCE_END)
    .map((sentence) => sentence.replaceAll(/\s+/gu, ' ').trim())
    .filter((sentence) => BINDING.test(sentence))
    .map((sentence) =>
      sentence.length <= SENTENCE_CHARACTERS ? sentence : `${headOf(sentence, SENTENCE_CHARACTERS)} …`,
    );
}

/**
 * The rules that a summary must keep, one line each, oldest first: those of the messages that it reads, behind those that
 * earlier summaries kept. They are kept whether or not the model's own words tell them: those pass through many hands.
 */
export function keptRules(entries: readonly Entry[], earlierLines: readonly string[]): string[] {
  const earlier = earlierLines.filter((line) => line.startsWith(RULE_MARK));
  const said = entries.flatMap((entry) => (entry.kind === 'user' ? ruleSentences(textOf(entry.content)) : []));
  // Of a rule that was said again the newest place counts: it may take back another in between.
  const newestFirst = [...new Set([...earlier, ...said.map((sentence) => RULE_MARK + sentence)].toReversed())];
  let left = RULES_CHARACTERS;
  return newestFirst.filter((line) => (left -= line.length) >= 0).toReversed();
}
