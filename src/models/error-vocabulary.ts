/**
 * The words that providers build their errors from, by concept and language. Rules combine
 * concepts, so that a wording that nobody has seen yet is understood; no rule holds a whole
 * sentence of one vendor. Texts are normalized (`error-text.ts`) before they are matched.
 */

function concept(...alternatives: readonly string[]): string {
  return `(?:${alternatives.join('|')})`;
}

/** What is limited, named as a property of the model or server. */
const WINDOW = concept(
  String.raw`context[-_ ]?(?:len(?:gth)?|window|size|limit|budget|capacity|space|tokens?)`,
  String.raw`(?:model|maximum|max|total|available|supported|allowed|configured)(?:(?!\b(?:r[au]n|running|out|over|past|beyond|lacks?|fills?|filled|exceed\w*|exhaust\w*)\b)[a-z' ()_-]){0,24}context`,
  String.raw`\bcontext\b`,
  String.raw`(?:maximum|max|model)[-_ ](?:model |allowed |permitted |supported )?(?:sequence|seq|prompt|input|position|request)[a-z_ -]{0,14}(?:len(?:gth)?|size|tokens?|embeddings|limit)`,
  String.raw`max_?(?:model|seq(?:uence)?|input|prompt|total|position)_?(?:len(?:gth)?|tokens|embeddings)`,
  String.raw`\bn_?ctx(?:_[a-z]+)?\b|\bnum_ctx\b|(?<![a-z])ctx(?:[-_ ]?(?:size|len(?:gth)?|window))?\b`,
  String.raw`(?:model|prompt|input|request|sequence|message|conversation)(?:'s)?[ _-]{1,2}(?:token|length|size)[ _-]?(?:limit|maximum|budget)`,
  String.raw`token[ _-]?(?:limit|budget|window|capacity|maximum|cap|count limit)`,
  String.raw`(?:limit|maximum|max) (?:for|of) (?:this|the|that) model`,
  String.raw`(?:maximum|max|allowed|permitted|supported)(?: number of| amount of)? (?:allowed |permitted |supported |input |prompt |total |context )*tokens?`,
  String.raw`(?:number of )?tokens? (?:allowed|permitted|supported|accepted)`,
  String.raw`model(?:'s)? (?:max(?:imum)?|allowed) (?:length|size)`,
  String.raw`(?:maximum|max|allowed|permitted|supported) (?:allowed |permitted )?(?:input|prompt|sequence|request|model|message) length`,
  String.raw`(?:input|prompt|sequence) length`,
  String.raw`kv[- ]?cache|\bkv\b|\bwindow\b`,
  // What other languages put in another order.
  String.raw`tokens?(?: [^\s.\d]+){0,2}? (?:maximum|limit|allowed)\b|limit (?:[^\s.\d]+ ){1,2}?tokens?\b|model (?:[^\s.\d]+ ){0,2}?(?:maximum|limit)\b|maximum tokens?\b`,
);

/** That something is over its limit. */
const EXCESS = concept(
  String.raw`too (?:long|large|big|many|much)`,
  String.raw`exceed(?:s|ed|ing)?|exceeding|surpass(?:es|ed)?|overflow(?:s|ed|ing|n)?|overran|overrun`,
  String.raw`(?:longer|larger|bigger|greater|higher|more(?: \w+)?) than`,
  String.raw`(?:go(?:es)?|went|is|are|was|were|runs?) (?:\w+ ){0,2}(?:over|above|beyond|past)\b|\b(?:over|past|beyond|above) (?:the|its|your|by|limit|context)`,
  String.raw`(?:does|do|did|will|would|can|could)(?:n't| ?not) (?:\w+ ){0,2}(?:fit|hold|accommodate|exceed|be processed)|not fit|no (?:\w+ )?(?:room|space)\b|not enough (?:room|space|context|tokens)|insufficient (?:context|room|space)|unable to fit`,
  String.raw`(?:must|should|has to|have to|needs? to|can|may)(?: ?not| only)? (?:\w+ ){0,3}(?:<=?|≤|less|fewer|smaller|shorter|at most|no more|no longer|no larger|not exceed|below|under|within|up to|in the range|between|(?:in )?\[)`,
  String.raw`(?:shorten|reduce|decrease|truncate|trim|shrink|cut)(?:ing)? (?:\w+ ){0,4}(?:prompt|input|messages?|conversation|history|length|size|context|tokens|request|text)`,
  String.raw`only \d[\d,. k]*(?:\w+ )?(?:are|is|can|may)\b|no longer fits?|(?:only|just) (?:supports?|accepts?|allows?|handles?|has|have)|(?:supports?|accepts?|allows?|limited|capped|restricted|handles?)(?: only)? (?:to|at most|up to|a maximum|at)|at most|up to a maximum`,
  String.raw`(?:fewer|less|smaller|shorter) than|\btokens? or (?:fewer|less)\b|(?:larger|longer|bigger) (?:context|window)\b`,
  String.raw`(?:cannot|can't|can not|unable to|not able to) (?:\w+ )?(?:handle|process|accept|take|read) (?:this|that|so|such) (?:many|much|long|large|a (?:long|large))|(?:keep|stay|remain)s? (?:\w+ ){0,3}(?:under|below|within) \d`,
  String.raw`out of (?:\w+ )?(?:range|bounds)|is full|(?:was|were|been|is|has) (?:reached|used up|depleted)|(?:context|ctx|window|memory|cache|kv|budget)(?: \w+)?:? (?:is |are )?full\b|exhaust(?:ed|s)|used up|blown|fill(?:s|ed)? (?:up )?the|r[au]n out of|running out of|(?:is|are|am|was|were|now|'re|'s|'m|^|[.:] ?) ?out of (?:\w+ )?(?:context|ctx|window|kv)|no (?:\w+ )?(?:context|ctx|window)(?: \w+)? (?:left|remain(?:s|ing)?|free)\b|no (?:more|further) (?:context|ctx|window)\b \w+|reached (?:the|its|your)|hit (?:the|its)|(?:limit|maximum|length|window|capacity|context)[a-z ]{0,12} (?:reached|hit|exhausted)|over-?limit|over-?length|over-?long|over-?sized?`,
  // Nothing of it is left.
  String.raw`(?:(?<![\d.,])0|\bzero|\bno) (?:[a-z]+ ){0,3}tokens? (?:[a-z]+ ){0,4}(?:remain(?:s|ing)?|left|available|free)\b|\b(?:remaining|left|available|free|remains?)(?: [a-z]+){0,3}(?: is| are| was)? ?[:=]? ?(?:0(?![\d.,])|zero\b|none\b)`,
  String.raw`\d ?(?:>=?|&gt;) ?\d`,
);

/** What the caller sent. */
const INPUT = concept(
  String.raw`prompts?|\binputs?(?:\b|_)|messages?|conversations?|histor(?:y|ies)|\bcontext\b|sequences?|transcript|dialog(?:ue)?|\brequest(?:ed)?\b|\bquery\b|\btext\b|token (?:count|length)|total (?:number of )?tokens?`,
);

const TOKEN = String.raw`(?:\btok(?:en)?s?\b|_tokens?\b|\d positions\b)`;

/** Tokens as entries of a vocabulary, not as a count. */
export const VOCABULARY_WORDS = /vocab|token[-_ ]ids?\b|special token/;

/** Characters between two concepts of one clause. */
const CLAUSE = 90;

/** The window is named; numbers have to say the rest. */
export const WINDOW_NAMED = new RegExp(WINDOW);

const EVERY_WINDOW = new RegExp(WINDOW, 'g');
const EVERY_EXCESS = new RegExp(EXCESS, 'g');

/** Whether a text names the window and within the same clause that it is exceeded. */
export function saysWindowExceeded(text: string): boolean {
  const windows = spans(EVERY_WINDOW, text);
  let first = 0;
  return spans(EVERY_EXCESS, text).some(([from, to]) => {
    while ((windows[first]?.[1] ?? Infinity) < from - CLAUSE) first += 1;
    // Windows do not overlap: of two, one does not contain the excess.
    return windows.slice(first, first + 2).some(([start, end]) => start - to <= CLAUSE && (to > end || from < start));
  });
}

function spans(concept: RegExp, text: string): readonly (readonly [from: number, to: number])[] {
  return [...text.matchAll(concept)].map((match) => [match.index, match.index + match[0].length]);
}

/** Input too long, without naming a window or unit: `prompt is too long`. Numbers of a field do not follow. */
export const INPUT_TOO_LONG = new RegExp(
  [
    String.raw`(?:prompts?|\binputs?\b|messages|conversation|history|\bcontext\b|transcript|\bchat\b|\bthread\b|(?<!stop )\bsequence)(?: (?!(?:cache|key|name|id|queue|template|field|file|image|parameter|schema|title|label|variable)s?\b)[^\s.]+){0,5}? (?:(?:is|are|was|were|be|became|has become|got|grew|seems?|appears?) )?(?:(?:far|way|much|simply|just) )?(?:too (?:long|large|big)|overlong|over-?length|longer than|larger than|exceed(?:s|ed)?\b|overflow(?:s|ed)?|(?:no longer|does not|doesn't|do not|don't|cannot|can't|won't|will not) fit)(?! (?:\w+ ){0,3}?[\d,]+ (?:items?|elements?|entries|objects?|strings?|rows?)\b)(?! (?:\w+ ){0,3}(?:severity|threshold|safety|rate|quota))`,
    String.raw`(?:maximum|max) (?:length|size) (?:of|for) (?:this|the|a|your) (?:prompt|conversation|chat|input|context)`,
    String.raw`(?:prompt|input|messages|conversation|history|context|chat|thread)(?:[:,]? [a-z]+){0,3}? (?:has |have )?(?:hit|reached) (?:its|the|their)(?: \w+)? (?:length|limit|size|maximum)`,
    String.raw`(?:your|the|this) message is (?:too (?:long|large)|longer than)`,
    String.raw`too (?:long|large|big|much|many) (?:\w+ ){0,3}?(?:of )?(?:prompt|input|context|conversation|history)\b(?! (?:items?|elements?|files?|images?))`,
    String.raw`(?:shorten|reduce|decrease|trim|truncate) (?:(?:the|your) )?(?:(?:length|size|number) of )?(?:(?:the|your) )?(?:\w+ )?(?:prompt|messages|conversation|chat history|history|context|input (?:text|prompt|messages|length))`,
    String.raw`too (?:long|large) \S{2,5} (?:\S+ ){0,2}model\b`,
    String.raw`(?:than|past|beyond|over|exceeds?) what (?:the|this|our|any|its|their) (?:\w+ )?(?:model|engine|server|assistant|window|context) (?:can|could|is able to) (?:read|handle|take|process|see|hold|fit|accept|keep)`,
    String.raw`too (?:long|large) (?:prompt|input|request|conversation|messages?)\b|\brequest (?:(?:\w+ )?(?:is|was) )?(?:\w+ )?too long`,
  ].join('|'),
);

/** What was sent. */
export const INPUT_WORDS = new RegExp(INPUT);

/** The unit that a window is counted in. */
export const TOKEN_WORDS = new RegExp(TOKEN);

/** Something is over a limit, not yet of what. */
export const EXCESS_WORDS = new RegExp(EXCESS);

/** What a model reads at once. */
export const CONTEXT_WORDS = /context|ctx|length|kv|window/;

/** Words that make a limit the model's own rather than an account's: `the limit for this model`. */
export const OF_THE_MODEL = /\b(?:model|maximum|limit for|size limit|context|window)\b|\bmax\.? ?\d/;

/** Requests or tokens per time, whatever they are called. */
export const RATE_WORDS = new RegExp(
  [
    String.raw`rate[-_ ]?limit|too many (?:concurrent )?(?:requests|calls)|concurren(?:t|cy) (?:\w+ )?(?:limit|requests?|calls)|requests? (?:are )?too (?:often|frequent|fast)|throttl|\bquota\b|slow down|tokens? bucket|parallel requests|\d[- ](?:hour|minute|day)s? (?:window|limit|period)|\btoday\b|concurrency cap|\b(?:past|last) (?:\d+ )?(?:seconds?|minute|hour|day)`,
    String.raw`per[- _](?:minute|second|hour|day|week|month)|/ ?(?:min(?:ute)?|sec(?:ond)?|hour|day)\b|\b(?:i|o)?tp[mdhs]\b|\brp[mdhs]\b`,
    String.raw`\b(?:daily|hourly|monthly|weekly|minute)\b[a-z ]{0,20}\b(?:limit|usage|tokens?|allowance|cap)`,
    String.raw`wait (?:\w+ ){0,6}before|\bresets? (?:at|in|on)\b|(?:try|retry)(?:ing)? (?:your request )?(?:again )?(?:in \d|after \d|after a|in a (?:few|moment|minute)|shortly)|retry (?:shortly|in|after)`,
  ].join('|'),
);

/** Money, not tokens. */
export const BILLING_WORDS = new RegExp(
  [
    String.raw`\bcredits?\b|billing|\bbalance\b|payment|insufficient[ _](?:funds|quota|balance)|exceeded your current quota|spend(?:ing)?[-_ ]?(?:limit|cap)|\bafford\b|\bprepaid\b|plan does not (?:include|support)|not included in your plan|\bwallet\b|\$ ?\d|(?:monthly|daily|cost|spending) budget|extra usage|upgrade your plan|purchase|\bbuy (?:more|credits|tokens)|\btrial\b|top[- ]?up|\bsubscription\b|\barrears\b|overdue`,
  ].join('|'),
);

/** The key or who it belongs to. */
export const KEY_WORDS =
  /(?:invalid|incorrect|missing|expired|revoked|no) (?:x-)?(?:api[-_ ]?key|authentication|credentials?|bearer|access token|auth(?:orization)?(?: header| token)?)|\b(?:access|api|auth|bearer|jwt|session|refresh|security|csrf|oauth|id)[-_ ]token\b(?! (?:limit|count|budget|usage|window|quota))|(?:api[-_ ]?key|credentials?|access token|bearer token) (?:provided )?(?:is |are |was |were |has |have )?(?:not (?:valid|found|recogni[sz]ed)|invalid|expired|missing|incorrect|revoked|unknown|wrong|disabled)|unauthori[sz]ed|authentication (?:failed|error)|permission denied/;

/** The server, not the request: a deadline is called a context in Go. */
export const OUTAGE_WORDS =
  /context (?:deadline|cancell?ed|was cancell?ed)|deadline exceeded|timed? ?out|overload|temporarily unavailable|service unavailable|bad gateway|upstream (?:connect|error|request)|connection (?:reset|refused|closed|error)|internal (?:server )?error|out of memory|memory limit|at capacity|capacity (?:exceeded|constraints)|max(?:imum)? retries|(?:try again|retry) later|engine is (?:currently )?overloaded/;

/** The answer's length: never repaired by a shorter input. */
export const OUTPUT_WORDS =
  /max[-_ ]?(?:new|completion|output|generated|gen|decode)?[-_ ]?tokens?(?:_to_sample)?\b|maxoutputtokens|maximum (?:number of )?(?:output|completion|new|generated) tokens|(?:output|completion|generated|new|response|thinking|budget) tokens?|budget_tokens|(?:output|completion|response|generation|answer|reply) (?:length|cap|limit|maximum|budget)|output of \d+|thinking budget|\bn(?:um)?_predict\b|max(?:imum)? tokens (?:that )?(?:you|value|parameter|setting|requested|to generate|for (?:the )?(?:output|completion|generation|response))/;

/** `max tokens of 4096 exceeded`: not the parameter but the limit that the input broke. */
export const TOKENS_EXCEEDED =
  /\bmax(?:imum)? tokens? (?:limit )?(?:\(?(?:of )?\d[\d,.k]*\)? )?(?:was |were |has been |have been |is |are )?(?:exceeded|exhausted|overrun|surpassed)(?! (?:the|by|its) (?:output|completion|model|max|limit))/;

/** What stands beside an output limit when the sum with the input is meant. */
export const BESIDE_OUTPUT =
  /tokens in (?:the |your )?request|\binputs?\b(?! (?:should|validation|value|error|type))|prompt|messages?\b(?! (?:is|must|because))|\brequest (?:has|contains|with)|(?:\bsum\b|total|together|combined|leaves?|plus|\+).{0,300}(?:context|window|model|n_ctx)|(?:context|window|model).{0,300}(?:\bsum\b|total|together|combined)|(?:context|window).{0,300}requested/;

/** Too little, not too much: a cache, a window or a value below its minimum. */
export const MINIMUM_WORDS =
  /(?:requires?|needs?|must (?:be|have|contain)|should (?:be|have)) at least \d|minimum (?:\w+ ){0,2}(?:is|of|size|length|count|value)|\bmin_\w*tokens?/;

/** Rules for the answer's form have tokens, sizes and limits of their own. */
export const GRAMMAR_WORDS =
  /\b(?:grammars?|[eg]?bnf|lark|lexer|parser|regex(?:es)?|regular expressions?|(?:json|output|response|tool|function)[ _]schemas?|schemas? (?:is|are|has|have|exceeds?|too))\b/;

/** Bytes as the unit, whatever else is named. */
export const COUNTED_IN_BYTES = /\bbytes?\b|\d ?[kmg]i?b\b|(?:payload|entity) too large/;

/** One field's own length, whatever the field is called. */
export const ONE_STRING = /string (?:is )?too long|a string (?:with (?:a )?max|of (?:at most|up to|no more))/;

/** Bytes and requests as a whole. */
export const BYTE_WORDS =
  /\bbytes?\b|\b[kmg]i?b\b|\d ?[kmg]i?b\b|body (?:size|is too|too|exceeds)|(?:request|http) body|content[-_ ]length|payload|entity too large|(?:sent|received) message larger|\bmessage size\b|message larger than max|request size|upload|decompress/;

/** Characters of one string. */
export const CHARACTER_WORDS =
  /\bcharacters?\b|\bchars?\b|string (?:is )?too long|string (?:with|should have|length)|string_above_max|\burl\b|\buri\b|header/;

/** Pictures, pages and files. */
export const MEDIA_WORDS =
  /\bimages?\b|\bimg\b|pixels?|\bdimensions?\b|\bpdfs?\b|\bpages?\b|\bvideos?\b|\baudio\b|\bmedia\b|\bfiles?\b(?! ?name)|attachments?|documents?\b|screenshots?|base64/;

const MEDIA_INPUT = String.raw`(?:\bimages?\b(?! (?:siz|format|dimension|type|of type))|\bimage_url\b|\bimage\(s\)|\bvision\b|\bmulti-?modal\b|\bpdfs?\b|\baudio\b|\bvideos?\b|\binput_image\b)`;

/** Media that the model cannot take at all, in either order: `image input is not supported`, `does not support images`. */
export const MEDIA_REFUSED = new RegExp(
  [
    String.raw`${MEDIA_INPUT}[^.;]{0,40}\b(?:(?:(?:is|are) )?not (?:supported|enabled|allowed|accepted|available)|unsupported|(?:is|are) only supported|cannot be used)`,
    String.raw`\b(?:not? (?:support|accept|allow|handle|have)|unsupported|cannot (?:read|see|take|process)|unable to (?:read|see)|no [a-z ]{0,24}support|not a|unknown variant)[^.;]{0,40}${MEDIA_INPUT}`,
    String.raw`\bat most 0 ${MEDIA_INPUT}|\bmissing data required for ${MEDIA_INPUT}|\bmmproj\b`,
  ].join('|'),
);

/** Lists of things other than text. */
export const LIST_WORDS =
  /array (?:is )?too long|(?:too many|maximum (?:number of )?|max(?:imum)? of|at most|up to|limit of|more than|number of)[a-z0-9,' ]{0,24}\b(?:tools?|functions?|items?|entries|elements?|properties|enum|choices|stop sequences?|stop)\b|(?:tools|functions|stop|items|properties|enum|labels|metadata)\b[a-z_' ]{0,24}(?:too many|too long|exceed|at most|maximum)/;

/** A cap on the number of messages. */
export const MESSAGE_COUNT_WORDS =
  /(?:to|is) \d+ messages|\d (?:messages|turns|rounds)\b[^.\n]{0,30}\b(?:at most|only|maximum|max|limit|no more than|up to)\b|\bmax_messages\b|messages'?:? length (?:should|must)|too many (?:\w+ )?(?:messages|turns|conversation turns|rounds|contents)\b|(?:number of|maximum|max|at most|up to|limit of|limited to|more than|exceeds?|than) (?:\w+ |[\d,]+ ){0,4}(?:messages|turns|rounds)\b|\bonly [\d,]+ (?:\w+ )?(?:messages|turns|rounds)\b|messages?'?:? (?:array|list|count|number)[a-z0-9 ]{0,20}(?:too|exceed|limit|maximum)|(?:messages|contents)'?:? (?:at most|must (?:have|contain)|array too long)|(?:input|messages|contents)[\]'".: ]{1,4}array (?:is )?too long/;

/** Thinking that came back changed or cannot be read any more. */
export const THINKING_WORDS =
  /(?:thinking|redacted_thinking|reasoning|encrypted[_ ]content|signature).{0,120}(?:cannot be modified|must remain|invalid|mismatch|could not be (?:verified|decrypted|parsed)|not (?:be )?(?:found|match|valid|verified|decrypt)|without its required|failed|corrupt)|expected.{0,40}(?:thinking|reasoning).{0,60}found|(?:invalid|missing|mismatched|unknown)[a-z `'_]{0,24}(?:signature|thinking block|encrypted content)/;

/** What the model is not allowed to read or say. */
export const FILTER_WORDS =
  /content[-_ ]?(?:filter|policy|management|moderation)|severity|violence|toxicity|\bhate\b|harassment|self-harm|\bfiltered\b|\bmoderat(?:ion|ed)\b|safety (?:system|policy|filter|reasons)|responsible ai|blocked by|flagged|usage polic|prohibited|(?:inappropriate|disallowed) content|data inspection/;

/** Validators name the field and the rule in texts of their own: `messages`, `List should have at most 500 items`. */
export const MESSAGE_LIST = /(?:^|\n)(?:messages|contents)(?:\n|$)/;
export const LIST_TOO_LONG = /\b(?:list|array)\b[^.\n]{0,40}(?:at most|too long|maximum|no more than)/;
