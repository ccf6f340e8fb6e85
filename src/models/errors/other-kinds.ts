import type { FailureCause, Repair } from '../model-client.ts';

/** A refusal that its words, codes or status tell. */
export interface Kind {
  readonly cause: FailureCause;
  /** Default: the turn ends. */
  readonly repair?: Repair;
  readonly pattern: RegExp;
  /** What explains the refusal better: the window or our own count, a limit in tokens, an input beside the output. */
  readonly unless?: readonly ('isExplained' | 'namesTokens' | 'isBesideInput')[];
}

/** Money. Both this and rates also speak of tokens and limits, so they are read before any word of an overflow. */
export const BILLING =
  /insufficient ?quota|spend ?limit|\bcredits?\b|billing|\bbalance\b|payment|insufficient[ _]funds|\bspend|\bprepaid\b|\bwallet\b|\bpaid\b|\$ ?\d|\bcosts?\b|\b(?:your|free) (?:\w+ )?tier\b|extra usage|(?:upgrade )?your (?:current )?plan\b|purchase|\bbuy\b|\btrial\b|top[- ]?up|subscription|arrear|overdue|余额|欠费|充值|残高|チャージ|잔액|cr[ée]dito|guthaben|crédit|saldo|баланс|средств|paiement|zahlung|\bpago\b|pagamento|оплат|付款|支払/;

/** Requests or tokens per time. */
export const RATE =
  /^(?:requests|tokens)$|resource ?exhausted|request ?limit|rate[-_ ]?limit|too many (?:\w+ )?(?:requests|calls)|concurren|throttl|\bquotas?\b|\ballocation\b|the rate\b|slow down|parallel requests|usage limit|per[- _](?:minute|second|hour|day|week|month)|\/ ?(?:min|sec|hour|day)\b|\b[io]?[tr]p[mdhs]\b|\b(?:daily|hourly|weekly|monthly|today)\b|\d+[- ](?:hour|minute|day)\b|(?:current|last|past) (?:minute|hour|day)|много запросов|wait (?:\w+ ){0,5}before|(?:retry|request) (?:\w+ )?later|this (?:month|week)\b|bucket|too (?:often|frequent|fast)|cool-?down|allowance|(?:rolling|time|usage|minute) window|\bresets? (?:at|in|on)\b|(?:pro|par|por|al|na) (?:minut|stunde|tag\b|jour|heure|d[ií]a\b|hora|giorno|godzin)|(?:в|за) (?:минуту|час|день|сутки)|dakika|phút|menit|per minuut|límite diario|anfragen pro|trop de requêtes|zu viele anfragen|每分钟|分钟内|每[日天]|限额|配额|频繁|频率|速率|限流|流控|流量|并发|额度|分あたり|1日|リクエストが多|毎分|日次|每小时|每月|분당|시간당|일일|속도 제한|kontingent/m;

export const OUTAGE =
  /^(?:internal|api error)$|insufficient system resource|context (?:deadline|(?:was )?cancell?ed)|deadline exceeded|timed? ?out|overload|unavailable|bad gateway|upstream (?:connect|error|request)|connection|internal (?:server )?error|server error|out of memory|memory|\bgpu\b|\bcuda\b|worker|panic|segfault|allocate|\bbusy\b|at capacity|capacity exceeded|try again later|queue|scheduler|waiting|unexpectedly|stack overflow|crash|terminated|disconnected|loading|maximum duration|took too long|stream (?:\w+ )?(?:fail|clos|end|interrupt)|partial (?:response|answer)|stalled|transient|\beof\b|cancell?ed\b|aborted|resource limit|排队/;

const MEDIA = String.raw`(?:\bimages?\b(?! (?:siz|format|dimension|type))|image_url|image\(s\)|\bvision\b|multi-?modal|\bpdfs?\b|\baudio\b|\bvideos?\b|input_image)`;

/** The model takes no media: routers say it with 404, llama.cpp with 500. */
const MEDIA_REFUSED = new RegExp(
  String.raw`${MEDIA}[^.;\n]{0,40}\b(?:not (?:supported|enabled|allowed|accepted|available)|unsupported|only supported|cannot be used)|\b(?:not? (?:support|accept|allow|handle|have)|unsupported|cannot (?:read|see|take|process)|not a|unknown variant)[^.;\n]{0,40}${MEDIA}|support image input|at most 0 ${MEDIA}|\bmmproj\b`,
);

export const OUTPUT =
  /max[-_ ]?(?:new|completion|output)?[-_ ]?tokens?\b|maxoutputtokens|(?:output|completion|new|generated) (?:tokens?|length|limit|budget)|num_predict|(?:generat\w+|writes?) (?:at most|up to)|maximum tokens|\boutput of \d|(?:completion|reply|response|answer) (?:cap|budget|limit|length)|\b(?:output|completion|reply|response|answer) (?:has |is |was )?(?:exceed|too (?:long|large|big))|budget_tokens|输出|出力トークン|출력|ausgabetoken|jetons de sortie/;

export const MEDIA_SIZE =
  /\bimages?\b|pictures?|pixels?|\bpx\b|\bpdfs?\b|\bpages\b|\bvideos?\b|\baudio\b|\bfiles?\b(?! ?name| ")|attachments?|\bdocuments?\b|screenshots?|base64|image_|\bbild\b|datei|图片|画像|arquivo|archivo|fichier|이미지/;

export const BYTES =
  /\bbytes?\b|\d ?[kmg]i?b\b|request body.{0,20}(?:too|large|size|exceed|limit|big)|payload|entity too large|request_?too_?large|maximum (?:\w+ )?size\b|request size|message size|\bmessage (?:is )?(?:larger|too (?:big|large))|content[-_ ]length|請求體/;

const MESSAGE_COUNT =
  /too many (?:messages|turns|rounds|contents)|(?:number of|maximum|max|at most|up to|more than|exceeds?|than|only) (?:\w+ ){0,3}(?:messages|turns|rounds)\b|\bmax_messages\b|\d+[- ](?:messages?|turns?)\b|(?:prompts|messages) (?:per|you can send)\b|'?(?:messages|contents)'?[:,\n]? ?(?:array|list|at most|must (?:have|contain)|length)|anzahl der nachrichten|сообщений|消息数|轮数|messages 参数|条消息|mensajes|mensagens/;

/** One field, list, tool or grammar of the request has a limit of its own. */
const ONE_FIELD = new RegExp(
  [
    // Units that no window is counted in.
    String.raw`\bcharacters?\b|\bchars\b|string (?:is )?too long|string (?:with|should)|array too long|across (?:all|the) (?:inputs|texts)|\d (?:items|elements|entries|levels|inputs|properties)\b|nesting|recursion|\bdepth\b`,
    // Parts of a request.
    String.raw`(?:too many|number of|most \d+) (?:\w+ )?(?:tools|functions|properties|items|inputs|stop sequences)|tools?\b.{0,20}at most|tool[_ ](?:names?|definitions?|calls?|descriptions?|outputs?|results?|choice)|function (?:name|description)|(?:system (?:prompt|instructions?|messages?)) (?:is |are )?(?:limited|must|may|can|too)|\bper (?:tool|message|item|field|chunk)\b|\bschemas?\b|grammar|regex|parser|lexer|vocab|embedding (?:inputs?|models?|dimensions?)|\bbatch|minimum|too (?:small|short)|(?:at least|greater than or equal to|>=) \d`,
    // Tokens as signs of a text.
    String.raw`(?:stop|unexpected|unsupported|special|unknown|invalid)[ _](?:sequence|token)s?\b|tokens? (?:ids?\b|at position|in (?:json|grammar|expression))|tokenizer|logprobs|logit_bias`,
    // Parameters by name.
    String.raw`\btop[_-][kp]\b|\bmin_p\b|_penalty|temperature|\bseed\b|\benum\b|response_format|metadata|template|\btitle\b|(?:cache|previous|message|prompt|context|conversation|thread|session|user|file)[_ ](?:key|ids?|names?|title|labels?|type|role|format|url|version|variables?|items?|field|index)\b|(?<!input|token)_(?:key|ids?|names?|type|format|mode|version)\b`,
    // What is said of a form.
    String.raw`(?:un)?known (?:parameter|field)|unsupported (?:parameter|value)|is not supported|unrecognized|extra inputs|not a valid option|not permitted|read-only|positive integer|roles? must|must alternate|non-empty|should be a valid|must be a (?:list|string|number|valid)|last message|is mandatory|beta header`,
  ].join('|'),
);

const THINKING =
  /verified to generate reasoning summar|reasoning\.?summar[a-z]{0,5}\b.{0,60}(?:not|un)[ -]?support|(?:thinking|reasoning|encrypted[_ ]content|signature)(?!.*(?:budget|effort)).{0,120}(?:modified|must remain|invalid|mismatch|could not be|not (?:be )?(?:found|match|valid|verified|decrypt)|corrupt)|expected.{0,40}(?:thinking|reasoning).{0,60}found|(?:invalid|missing|mismatched)[a-z `'_]{0,24}(?:signature|thinking block|encrypted content)/;

const KEY =
  /(?:invalid|incorrect|missing|expired|revoked|no) (?:x-)?(?:api[-_ ]?key|authentication|credentials?)|api[-_ ]?key (?:\w+ ){0,2}(?:not |invalid|expired|missing)|unauthori[sz]ed|unauthenticated|authentication(?: failed|(?: error)?$)|\b(?:auth\w*|access|bearer|refresh|csrf|oauth2?|login|key|session|security|identity|device|deploy|service|active|api|id) tokens?\b(?!.*(?:prompt|window))|tokens? (?:has |have |is |are |was )?(?:been )?(?:expired|revoked|malformed)|\bjwts?\b|api ?密钥|clé d'api|api-schlüssel/m;

const CONTENT =
  /content[-_ ]?(?:filter|policy|management|moderation)|severity|violence|\bhate\b|harassment|self-harm|moderat(?:ion|ed)|safety (?:system|policy|filter)|responsible ai|blocked by|flagged|usage polic|prohibited|harmful|data inspection|sensitive (?:content|words?|info)|敏感|安全检测|违规/;

const ACCESS =
  /^http 403$|(?:do(?:es)? not|don't) have access|unable to access|(?:organi[sz]ation|account|project|user) (?:has been |is |was )?(?:disabled?|suspended|banned|blocked|deactivated)|no ?auth|not allowed from|permission denied|access denied|forbidden/m;

/** Contexts of sessions, programs and values. */
const OTHER_CONTEXT =
  /(?<!token[- ])(?:\b|_)contexts\b|context_management|no context available|(?:session|security|execution|browser|render\w*|cuda|gpu|ssl|tls|json|http|database|transaction|user|tenant|trace|template|application|auth\w*|async) contexts?\b(?!.*(?:token|window|prompt))|context (?:(?:has |is |was )?(?:been )?(?:expired|invalid|missing|closed|destroyed|lost|unknown|not found|revoked|disposed)|(?:objects?|variables?|files?|managers?|switch)\b)|[.'"]context(?:['".:]|$)(?!.*(?:token|window|length))|quoted out of context/;

/** The input beside a limit on the output: then their sum is meant. */
export const BESIDE_OUTPUT =
  /prompt|\binputs?\b(?! should)|messages already|tokens per model|\brequest has|tokens in request|too (?:big|large|long) for|\+|(?:context|window).{0,40}\d|\d.{0,40}(?:context|window)|eingabe|输入/s;

/** Another kind of request, one text of a list, or a least value: no conversation over its window. */
const ANOTHER_REQUEST =
  /(?<!(?:position|input)[ _])\bembed|\bre-?rank|\btraining|fine-?tun|synthesi[sz]|chunk[_ ]size|\b(?:input|text) (?:at index )?\d{1,3}\b|in (?:the |a )?batch\b|increase the (?:\w+ )?batch|(?:below|under) (?:the |its )?minimum|minimum (?:of )?\d|must be (?:greater|larger|more|higher) than \d{2}/;

/** Whose limit it is, when it is not the window's, whatever else the words say. */
export const LIMITS_OF_OTHERS: readonly Kind[] = [
  { cause: 'media_refused', repair: 'drop_media', pattern: MEDIA_REFUSED },
  { cause: 'billing', pattern: BILLING },
  { cause: 'rate_limit', repair: 'wait', pattern: RATE },
  { cause: 'output_too_large', pattern: OUTPUT, unless: ['isBesideInput'] },
  { cause: 'payload_too_large', repair: 'drop_media', pattern: /(?:per|single|each) (?:image|file|doc|attach)/ },
  { cause: 'invalid_request', pattern: ANOTHER_REQUEST },
];

/** What the account and its model forbid, limits on parts of a request, and refusals for what it says, in this order. */
export const OTHER_REFUSALS: readonly Kind[] = [
  { cause: 'not_found', pattern: /^http 404$|not a valid model|model .{0,60}(?:not found|does not exist|无可用)/m },
  { cause: 'permission', pattern: ACCESS },
  { cause: 'too_many_messages', repair: 'compact', pattern: MESSAGE_COUNT, unless: ['namesTokens'] },
  { cause: 'thinking_refused', repair: 'drop_thinking', pattern: THINKING },
  { cause: 'authentication', pattern: KEY },
  { cause: 'content_filter', pattern: CONTENT },
  { cause: 'invalid_request', pattern: OTHER_CONTEXT },
  { cause: 'invalid_request', pattern: ONE_FIELD, unless: ['isExplained'] },
  { cause: 'payload_too_large', repair: 'drop_media', pattern: MEDIA_SIZE, unless: ['isExplained', 'namesTokens'] },
  { cause: 'payload_too_large', repair: 'drop_media', pattern: BYTES, unless: ['isExplained', 'namesTokens'] },
];

/** A complaint about the form of a request, whose size it does not name: it is understood well enough to compact nothing. */
export const ABOUT_FORM =
  /must (?:be|match|have|contain|not|start|end|follow|include)|should (?:be|have|match)|\bexpected|unsupported|unknown|missing|required|not (?:found|allowed|valid|exist)|supported|recognized|implemented|is invalid|expired|does not (?:exist|support|match)|not present|only supports|equal to|found without|cannot be|out of range|filtered|disallowed|recursion|call stack|\bjson\b|pars(?:e|ing)|duplicate|malformed|deprecated|invalid (?!request|argument|input\b|params)[a-z'"]|'[a-z_]+(?:\.[a-z_\d]+)*'|\b(?!max_tokens)[a-z]+_[a-z_]+\b|(?:at most|maximum (?:of|is)|exceeds|more than|limit of|max) \d{1,3}\b/;
