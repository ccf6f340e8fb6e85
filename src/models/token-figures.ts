import { NUMBER, plainNotation, plainNumber, valueOf } from './number-formats.ts';

/** What the numbers of an error say, all in tokens. */
export interface TokenFigures {
  /** What was sent or asked for, as the provider counted it: with the output's part when that is counted too. */
  readonly actual?: number;
  readonly limit?: number;
  /** The input's part alone. */
  readonly input?: number;
  /** The maximum output that was asked for. */
  readonly output?: number;
  /** By how much the limit is exceeded, when only that is told (Cohere, Ollama). */
  readonly excess?: number;
  /** The provider stopped counting early (newer vLLM): the true size is unknown. */
  readonly lowerBound: boolean;
}

/** No window is smaller, and no input that is over one: smaller numbers count something else. Tokens. */
const SMALLEST: Readonly<Record<Role, number>> = { limit: 16, other: 16, input: 1, output: 1, excess: 1, rest: 1 };

/** An error that names more numbers is a log. */
const MOST_FIGURES = 40;

/** No model's output is capped lower. Tokens. */
const SMALLEST_CAP = 16;

type Role = 'limit' | 'input' | 'output' | 'excess' | 'rest' | 'other';

interface Figure {
  readonly value: number;
  readonly role: Role;
  readonly lowerBound: boolean;
  /** `8190 of 8192`: the limit by its place. */
  readonly byPlace: boolean;
  /** `8000 + 1000`: what is added to the input. */
  readonly added: boolean;
}

/** When it happened, in a log's line. */
const MOMENT = /\d{4}-\d\d-\d\d[t ]\d\d:\d\d[\d:.,]*z?/g;

/** vLLM shows how it came to its answer: `(8192 > 8192 - 64)`. */
const ARITHMETIC = /\([\d,. ]+[<>]=?[\d,. ]+[-+][\d,. ]+\)/g;

const OTHER_UNIT =
  /^ ?(?:bytes?|[kmg]i?b\b|characters?|chars?\b|letters|pixels?|px\b|images?|pages?|items?|messages?\b|tools?\b|seconds?|secs?\b|s\b|ms\b|minutes?|mins?\b|hours?|days?|times|requests?\b|percent|%|dollars|usd|credits?|x \d|files?)/;
const NOT_A_COUNT = /(?:code|status|http|error|\$|line|column|version|id)[ :=#(]*$/;
const PERIOD = /\/ ?(?:min|sec|hour|day)|per (?:minute|second|hour|day)/;

const OUTPUT_AFTER =
  /^ ?(?:tokens? )?(?:(?:(?:reserved|kept|asked|left|set aside|requested) )?(?:in|for|of|from|as) (?:the |your )?(?:\w+ )?(?:completion|output|response|answer|generation|reply)|(?:output|completion|generated|generation|response|new|max_(?:\w+_)?tokens)\b|can be generated)/;
const OUTPUT_BEFORE =
  /(?:max[-_](?:new|completion|output)?[-_ ]?tokens?|max (?:new|completion|output) tokens|maxoutputtokens|(?:output|completion|new) tokens?|(?:output|completion|generation|response) length|max output|completion|\boutput|\bgenerate)\b/g;
const INPUT_AFTER =
  /^ ?(?:tokens? )?(?:(?:in|from|of|for) (?:the |your )?(?:\w+ )?(?:messages?|prompt|input|conversation|functions|tools)|(?:of )?(?:text |image |tool )?(?:input|prompt)s?\b)/;
const INPUT_BEFORE = /(?:inputs?|prompt|messages?|contents?)(?:\b|_)[^.;0-9]{0,36}$/;
/** `plus prompt 30000`, but not `maximum prompt length: 8192`. */
const NEXT_TO_INPUT =
  /(?<!(?:max(?:imum)?|allowed|permitted|supported|limit|limit (?:of|for|on)|exceeds?|than|up to|most)[-_ ](?:the )?)\b(?:prompt|inputs?)(?:[_ ](?:tokens?|length))?[ :=(]*$|(?:than|exceeds?) (?:the )?(?:prompt|inputs?) $/;
// After a verb of other languages stand their own words for "by".
const EXCESS_BEFORE =
  /\b(?:by|over by|excess(?: of)?|exceeds (?:de|di|um|por|em|met|med|о|на|o))[ :~]*(?:about |approximately |around |roughly )?$/;
/** Where the verb stands last, or the number before it: `um 24096 tokens überschritten`. */
const BY_BEFORE =
  /(?:^|[ (])(?:um|de|por|per|di|met|med|о|на)[ :~]*(?:(?:etwa|rund|ca\.?|environ|unos|cerca de|circa|ongeveer) )?$/;
const VERB_AFTER =
  /^ ?(?:tokens?|jetons?|fichas?|tokenů|токенов)?,? ?(?:exceeded|exceeds|überschritten|überschreitet|übersteigt|überschreiten|(?:est |a été |été )?dépass|(?:ha sido |foi |é |è |ha )?(?:excedid|superad|ultrapassad|superat)|overschreden|overschrijdt|overskredet|överskrid|превыш)/;
/** What the input leaves free: neither sent nor a limit. */
const REST_BEFORE =
  /there is (?:only |just )?(?:room|space) for (?:only |just |at most )?$|leav(?:es?|ing) (?:only |just |room for )?$/;
const REST_AFTER = /^ ?(?:tokens? |positions? )?(?:are |is )?(?:left|remain(?:s|ing)?|free|to spare)\b/;
/** `with 9000 tokens too long` (German) tells the size, `9000 tokens too long` the excess. */
const SIZE_BEFORE = /\b(?:with|mit|avec|con|com|met|med|z|at|of|has|have|is at) $/;
const EXCESS_AFTER =
  /^ ?(?:more )?tokens? (?:over|too (?:many|long|large)|above|beyond|more than (?:the|allowed)|in excess)/;
const LIMIT_BEFORE =
  /(?:maximum|\bmax|limit|upper bound|up to|no more than|at most|less than|fewer than|below|under|within|exceed(?:s|ed|ing)?|longer than|larger than|greater than|more than|higher than|bigger than|than|over|above|beyond|n_?ctx|num_ctx|window|context|capacity|allow(?:s|ed)?|support(?:s|ed)?|accepts?|only|[<≤]=?|>=?|trained)/g;
const LIMIT_AFTER =
  /^ ?(?:-? ?tokens? )?(?:\(?(?:the )?(?:maximum|max\b|limit|cap\b|context (?:length|window|size)|context\b|window|allowed|or (?:fewer|less)\b|is the (?:max|limit)|token (?:limit|maximum|window|context))|上限|を超え|를 초과|을 초과)/;
/** Between the two numbers of `8190 of 8192` or `8190 tokens out of the 8192`. */
const SHARE_BEFORE =
  /^ ?(?:tokens? |positions? )?(?:left |remaining |free )?(?:out )?of (?:the |its |your |a |an |our )?(?:(?:available|maximum|allowed) )?$/;
const ACTUAL_BEFORE =
  /(?:requested|provided|given|received|got|sent|found|counted|used|takes|uses|needs|fills|occupies|consumes|spans|has|have|had|contains?|containing|resulted in|(?<!(?:maximum|max|allowed) )totall?(?:s|ing)?|with|was|were|were sent|your (?:request|prompt|input)|current(?:ly)?|actual(?:ly)?|yours)/g;
const AT_LEAST = /(?:at least|not less than|minimum of|or more|≥|至少)[ :]*$/;

/** A clue further away than this belongs to something else. Characters. */
const LONGEST_CLUE = 48;

/** Reads the figures of one normalized text. Only what is counted in tokens, or not named otherwise, counts. */
export function tokenFigures(normalized: string): TokenFigures {
  const text = plainNotation(normalized);
  const sum = sumForm(text);
  if (sum !== undefined) return sum;
  const range =
    /[[(] ?\d{1,2} ?(?:,|-|–|\.\.|to) ?([\d,. ]*\d) ?[\])]|\b(?:between|from) \d{1,2} (?:and|to) (\d[\d,. ]*\d)/.exec(
      text,
    );
  if (range !== null && /length|range|token/.test(text)) {
    const limit = plainNumber(range[1] ?? range[2] ?? '');
    const actual = Math.max(0, ...figuresOf(text.replace(range[0], ' ')).map((figure) => figure.value));
    return { limit, ...(actual > limit ? { actual } : {}), lowerBound: false };
  }
  // 70021/65536
  return assemble(
    figuresOf(
      text
        .replaceAll(ARITHMETIC, ' ')
        .replaceAll(MOMENT, ' ')
        .replaceAll(/(\d{3}) ?\/ ?(?=\d{3})/g, '$1 of '),
    ),
  );
}

/** The smallest count that a text about the output alone names: of the wish and the cap, the cap. */
export function smallestFigure(text: string): number | undefined {
  const values = figuresOf(text).flatMap((figure) => (figure.value >= SMALLEST_CAP ? [figure.value] : []));
  if (values.length === 0) return undefined;
  return Math.min(...values) - (/exclusive|(?:less|fewer|smaller) than \d/.test(text) ? 1 : 0);
}

/** `200043 + 32000 > 204658`: input, output and limit in their order. */
function sumForm(text: string): TokenFigures | undefined {
  const n = String.raw`(\d[\d,._']{0,20})`;
  const match = new RegExp(
    `${n}[a-z _()]{0,30}(?:\\+|\\bplus\\b)[a-z _()]{0,30}${n}[^0-9+]{0,30}?(?:>=?|exceeds?|is (?:greater|larger|more) than|超过)[^0-9]{0,40}${n}`,
  ).exec(text);
  if (match === null) return undefined;
  const [input, output, limit] = [
    plainNumber(match[1] ?? ''),
    plainNumber(match[2] ?? ''),
    plainNumber(match[3] ?? ''),
  ];
  if (input + output <= limit) return undefined;
  return { actual: input + output, input, output, limit, lowerBound: false };
}

function figuresOf(text: string): Figure[] {
  const matches = [...text.matchAll(NUMBER)].slice(0, MOST_FIGURES);
  return matches.flatMap((match, position): Figure[] => {
    const previous = matches[position - 1];
    const next = matches[position + 1];
    const end = match.index + match[0].length;
    const before = text.slice(
      Math.max(previous === undefined ? 0 : previous.index + previous[0].length, match.index - 80),
      match.index,
    );
    const after = text.slice(end, Math.min(next?.index ?? text.length, end + 60));
    const value = valueOf(match);
    const signed = match[1] === '-' ? -value : value;
    // Error numbers, sizes in other units, rates, and what is too small to be a limit on tokens of a model.
    if (match.index === 0 && after.startsWith(':')) return [];
    if (OTHER_UNIT.test(after) || NOT_A_COUNT.test(before) || PERIOD.test(after)) return [];
    // A lone number in brackets is an error number (MiniMax's 2013).
    if (matches.length === 1 && before.endsWith('(') && !/token/.test(before + after)) return [];
    const byPlace = position > 0 && SHARE_BEFORE.test(before);
    const role = byPlace ? 'limit' : roleOf(before, after);
    return [{ value: signed, role, lowerBound: AT_LEAST.test(before), byPlace, added: /\+ ?$/.test(before) }];
  });
}

/** Clues before a number, in the order in which one wins that ends at the same place. */
const CLUES_BEFORE: readonly (readonly [Role, RegExp])[] = [
  ['output', OUTPUT_BEFORE],
  ['limit', LIMIT_BEFORE],
  ['other', ACTUAL_BEFORE],
];

function roleOf(before: string, after: string): Role {
  if (BY_BEFORE.test(before) && VERB_AFTER.test(after)) return 'excess';
  if (EXCESS_BEFORE.test(before) || (EXCESS_AFTER.test(after) && !SIZE_BEFORE.test(before))) return 'excess';
  if (REST_BEFORE.test(before) || REST_AFTER.test(after)) return 'rest';
  if (OUTPUT_AFTER.test(after)) return 'output';
  if (LIMIT_AFTER.test(after)) return 'limit';
  if (INPUT_AFTER.test(after) && !/(?:maximum|max|limit)[^.;]{0,24}$/.test(before)) return 'input';
  if (NEXT_TO_INPUT.test(before)) return 'input';
  // Of several clues the nearest one counts: "exceeds the limit … your request has 5000".
  const clause = before.slice(before.search(/[^.;]*$/)).slice(-LONGEST_CLUE);
  let role: Role = INPUT_BEFORE.test(before) ? 'input' : 'other';
  let nearest = -1;
  for (const [clue, pattern] of CLUES_BEFORE) {
    const end = Math.max(-1, ...[...clause.matchAll(pattern)].map((match) => match.index + match[0].length));
    if (end > nearest) [role, nearest] = [clue, end];
  }
  return role;
}

/** Of four numbers the one that two others add up to is the request, whatever the words; what is left is the limit. */
function addingUp(figures: readonly Figure[]): TokenFigures | undefined {
  const counts = figures.filter((figure) => figure.value > 0 && figure.role !== 'rest');
  for (const total of counts) {
    for (const [place, left] of counts.entries()) {
      const right = counts.slice(place + 1).find((other) => left.value + other.value === total.value);
      if (right === undefined) continue;
      const limits = counts.filter(({ value }) => value < total.value && value !== left.value && value !== right.value);
      const limit = (limits.find(({ role }) => role === 'limit') ?? limits[0])?.value;
      // Of two parts of the input (messages and functions) none is the output's.
      const rest = right.added || (left.role === 'input' && right.role !== 'input') ? right : undefined;
      const output = [left, right].find(({ role }) => role === 'output') ?? rest;
      if (limit === undefined || output === undefined) continue;
      const input = output === left ? right.value : left.value;
      return { actual: total.value, limit, input, output: output.value, lowerBound: counts.some((f) => f.lowerBound) };
    }
  }
  return undefined;
}

function assemble(figures: readonly Figure[]): TokenFigures {
  const sum = addingUp(figures);
  if (sum !== undefined) return sum;
  const lowerBound = figures.some((figure) => figure.lowerBound && figure.role !== 'limit' && figure.value > 1);
  const valuesOf = (role: Role) =>
    figures.filter((figure) => figure.role === role && figure.value >= SMALLEST[role]).map((f) => f.value);
  let output = valuesOf('output')[0];
  const excess = valuesOf('excess')[0];
  const inputs = valuesOf('input');
  let input = inputs.length === 0 ? undefined : inputs.reduce((sum, value) => sum + value, 0);
  const counts = [...valuesOf('limit'), ...valuesOf('other'), ...inputs];
  let limit = valuesOf('limit')[0];
  let actual = Math.max(0, ...valuesOf('other'), input ?? 0);
  // Two counts and no clear roles: whoever is over a limit has sent more than it.
  if (counts.length >= 2 && (limit === undefined || valuesOf('limit').length >= 2)) {
    limit = Math.min(...counts);
    actual = Math.max(...counts);
  }
  const byPlace = figures.some((figure) => figure.byPlace && figure.value === limit);
  if (!byPlace && limit !== undefined && actual > 0 && actual < limit && output === undefined && counts.length === 2) {
    [actual, limit] = [limit, actual];
  }
  // "Prompt tokens: 9000, max tokens: 8192": of two counts without a limit the output's is none.
  if (limit === undefined && output !== undefined && actual > output) {
    limit = output;
    output = undefined;
  }
  // "Input and output tokens (9300)": what looks like the output's part alone is over the window.
  if (actual === 0 && output !== undefined && limit !== undefined && output > limit)
    [actual, output] = [output, undefined];
  // "Cannot generate 8000 tokens: the prompt has 30000": what stands beside the output's part is the input's.
  const others = valuesOf('other');
  if (input === undefined && output !== undefined && others.length === 1 && limit !== undefined && actual < limit)
    input = actual;
  // "7900 in the prompt, 1024 wanted, window 8192": what only together is over the limit is input and output.
  if (
    inputs.length === 1 &&
    input !== undefined &&
    output === undefined &&
    others.length === 1 &&
    limit !== undefined &&
    Math.max(input, others[0] ?? 0) < limit &&
    input + (others[0] ?? 0) > limit
  )
    output = others[0];
  // Parts without a total: the limit is on their sum.
  if (input !== undefined && output !== undefined && limit !== undefined && actual <= limit) actual = input + output;
  if (actual === 0 && excess !== undefined && limit !== undefined) actual = limit + excess;
  return {
    ...(actual > 0 && (byPlace || actual !== limit) ? { actual } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(excess === undefined ? {} : { excess }),
    lowerBound,
  };
}
