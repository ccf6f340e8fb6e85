/** What the task says about first sentences, so that every reader means the same one. */
export const FIRST_SENTENCE_RULE =
  'The first sentence of a README is that of its first paragraph of prose: headings, badges, HTML, quotes, lists, tables ' +
  'and code before it do not count; a paragraph without a full stop counts as one sentence.';

/** Blocks that nobody takes for prose: headings, badges and images, addresses of links, quotes, tables, lists, rules, HTML in one line. */
const SKIPPED_LINE =
  /^(?:#{1,6} |!\[|\[!\[|\[[^\]]*\]:|>|\||[-*+] |\d+[.)] |[-=*_]{3,}$|<!--.*-->$|<(?:img|br|hr)\b[^<>]*>$)/u;

/** How no line of prose begins. */
const NOT_PROSE = /^(?:[#<>|!&]|\[!|[-*+] |\d+[.)] |[-=*_]{2,}$)/u;

const FENCE = /^(?:```|~~~)/u;

/** Ends a word, not a sentence. */
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|cf|approx|Inc|Mr|Dr|No)\.$/u;

/** Characters. */
const SHORTEST = 15;
const LONGEST = 220;
const LEAST_WORDS = 3;

/**
 * The first sentence of a README by that rule; `null` when it is open to doubt, because a heading
 * without an empty line, or HTML, stands before it, or what is found is no sentence: a question with two
 * answers checks nothing.
 */
export function firstSentence(markdown: string): string | null {
  for (const block of blocksOf(markdown)) {
    if (block.every((line) => SKIPPED_LINE.test(line))) continue;
    if (block.some((line) => NOT_PROSE.test(line))) return null;
    const paragraph = block.join(' ').replaceAll(/\s+/gu, ' ');
    const sentence = /^.*?[.!?](?=\s|$)/u.exec(paragraph)?.[0] ?? paragraph;
    return isClear(sentence) ? sentence : null;
  }
  return null;
}

/** Lines between empty ones, outside fences. */
function blocksOf(markdown: string): readonly (readonly string[])[] {
  const blocks: string[][] = [[]];
  let fenced = false;
  for (const line of markdown.split('\n').map((each) => each.trim())) {
    const isFence = FENCE.test(line);
    if (isFence) fenced = !fenced;
    if (isFence || fenced || line === '') blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.filter((block) => block.length > 0);
}

function isClear(sentence: string): boolean {
  const isOfLength = sentence.length >= SHORTEST && sentence.length <= LONGEST;
  const withoutLinks = sentence.replaceAll(/\[[^\]]*\](?:\([^)\s]*\)|\[[^\]]*\])/gu, 'link');
  const isWhole = !/[<>|\\[\]]|:$/u.test(withoutLinks) && !ABBREVIATION.test(sentence);
  const isCode = /^`[^`]*`$/u.test(sentence);
  const words = withoutLinks.match(/\p{Letter}{2,}/gu)?.length ?? 0;
  return (
    isOfLength && words >= LEAST_WORDS && isWhole && !isCode && /^(?:[\p{Letter}\p{Number}`[]|\*\*)/u.test(sentence)
  );
}
