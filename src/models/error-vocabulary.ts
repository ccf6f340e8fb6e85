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
  String.raw`context[-_ ]?(?:length|window|size|limit|budget|capacity|space|tokens?)`,
  String.raw`(?:model|maximum|max|total|available|supported|allowed|configured)[a-z' ()_-]{0,24}context`,
  String.raw`\bcontext\b`,
  String.raw`(?:maximum|max|model)[-_ ](?:model |allowed |permitted |supported )?(?:sequence|seq|prompt|input|position|request)[a-z_ -]{0,14}(?:len(?:gth)?|size|tokens?|embeddings|limit)`,
  String.raw`max_?(?:model|seq(?:uence)?|input|prompt|total|position)_?(?:len(?:gth)?|tokens|embeddings)`,
  String.raw`\bn_?ctx(?:_[a-z]+)?\b|\bnum_ctx\b|\bctx[-_ ]?(?:size|len(?:gth)?|window)\b`,
  String.raw`(?:model|prompt|input|request|sequence|message|conversation)(?:'s)?[ _-]{1,2}(?:token|length|size)[ _-]?(?:limit|maximum|budget)`,
  String.raw`token[ _-]?(?:limit|budget|window|capacity|maximum|cap|count limit)`,
  String.raw`(?:limit|maximum|max) (?:for|of) (?:this|the|that) model`,
  String.raw`(?:maximum|max|allowed|permitted|supported)(?: number of| amount of)? (?:allowed |permitted |supported |input |prompt |total |context )*tokens?`,
  String.raw`(?:number of )?tokens? (?:allowed|permitted|supported|accepted)`,
  String.raw`(?:maximum|max|allowed|permitted|supported) (?:allowed |permitted )?(?:input|prompt|sequence|request|model|message) length`,
  String.raw`(?:input|prompt|sequence) length`,
  String.raw`kv[- ]?cache|\bwindow\b`,
  // Chinese, Japanese, Korean
  '上下文|最大(?:输入|输出输入|总)?(?:长度|token|令牌)|(?:token|令牌)(?:数量?|长度)?(?:的)?(?:上限|限制)|(?:输入|模型)(?:的)?(?:最大)?长度|上下文長度|長度上限',
  'コンテキスト|最大トークン|トークン(?:数)?(?:の)?(?:制限|上限)|最大(?:入力)?長',
  '컨텍스트|최대 ?(?:토큰|길이|입력)|토큰 ?(?:수|한도|제한)',
  // Russian, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Turkish
  String.raw`контекст[а-я]*|максимальн[а-я]+ (?:длин|числ|количеств|размер)[а-я]*|(?:лимит|предел)[а-я]* токенов`,
  String.raw`kontext[a-zäöü]*|maximale[nrs]? (?:\w+)?(?:länge|anzahl|größe)|token-?(?:limit|grenze|anzahl)`,
  String.raw`contexte|longueur maximale|(?:limite|nombre maximal) de (?:tokens|jetons)`,
  String.raw`contexto|(?:longitud|longitude|tamaño) máxim[ao]|(?:comprimento|tamanho) máximo|(?:límite|limite|número máximo) de tokens`,
  String.raw`contesto|lunghezza massima|limite di token|bağlam|contextlengte|kontekst[a-z]*|konteks\b|ngữ cảnh|السياق|संदर्भ|maksymaln[a-z]+ (?:długo|liczb)[a-zść]*`,
);

/** That something is over its limit. */
const EXCESS = concept(
  String.raw`too (?:long|large|big|many|much)`,
  String.raw`exceed(?:s|ed|ing)?|exceeding|surpass(?:es|ed)?|overflow(?:s|ed|ing|n)?|overran|overrun`,
  String.raw`(?:longer|larger|bigger|greater|higher|more(?: \w+)?) than`,
  String.raw`(?:go(?:es)?|went|is|are|was|were|runs?) (?:\w+ ){0,2}(?:over|above|beyond|past)\b|\b(?:over|past|beyond|above) (?:the|its|your|by|limit)`,
  String.raw`(?:does|do|did|will|would|can|could)(?:n't| ?not) (?:\w+ ){0,2}(?:fit|hold|accommodate|exceed|be processed)|not fit|no room|not enough (?:room|space|context|tokens)|insufficient (?:context|room|space)|unable to fit`,
  String.raw`(?:must|should|has to|have to|needs? to|can|may)(?: ?not| only)? (?:\w+ ){0,3}(?:<=?|≤|less|fewer|smaller|shorter|at most|no more|no longer|no larger|not exceed|below|under|within|up to|in the range|between|(?:in )?\[)`,
  String.raw`(?:shorten|reduce|decrease|truncate|trim|shrink|cut)(?:ing)? (?:\w+ ){0,4}(?:prompt|input|messages?|conversation|history|length|size|context|tokens|request|text)`,
  String.raw`only \d[\d,. k]*(?:\w+ )?(?:are|is) (?:supported|allowed|accepted|permitted|available)|(?:only|just) (?:supports?|accepts?|allows?|handles?|has|have)|(?:supports?|accepts?|allows?|limited|capped|restricted|handles?)(?: only)? (?:to|at most|up to|a maximum|at)|at most|up to a maximum`,
  String.raw`(?:fewer|less|smaller|shorter) than`,
  String.raw`out of (?:range|bounds)|is full|(?:was|were|been|is|has) (?:reached|exhausted|used up|depleted)|used up|fill(?:s|ed)? (?:up )?the|run out of|ran out of|reached (?:the|its|your)|hit (?:the|its)|(?:limit|maximum|window|capacity)[a-z ]{0,12} (?:reached|hit|exhausted)|over-?limit|over-?length|over-?long|over-?sized?`,
  String.raw`\d ?(?:>=?|&gt;) ?\d`,
  '超过|超出|超長|超长|过长|過長|太长|太長|超限|过大|大于|大於|超過|不能多于|不得超过|应在|越界',
  '超え|超過|長すぎ|大きすぎ|多すぎ|オーバー|上回',
  '초과|너무 ?(?:깁|길|긴|큽|크|많)|넘(?:었|습|는|어)',
  String.raw`превы[а-я]+|слишком (?:длин|больш|велик|много)[а-я]*|больше,? чем|не должн[а-я]+`,
  String.raw`überschr[a-zäöü]+|übersteig[a-z]+|zu (?:lang|groß|viele|umfangreich)|(?:größer|länger|mehr) als`,
  String.raw`dépass[a-zéè]+|excèd[a-zéè]*|trop (?:long|grand|volumineu|de)[a-z]*|plus (?:longue?|grande?) que|supérieure? à`,
  String.raw`exced[a-zéêíó]+|sobrepas[a-zó]+|super[aóo]\b|superan|supera(?:do|da)|ultrapass[a-zoa]+|demasiad[oa]s? ?(?:larg|grand|extens)?[a-z]*|(?:muy|muito|mais) (?:larg|long|extens|grand)[a-z]*|(?:mayor|maior) (?:que|do que)`,
  String.raw`ecced[a-z]+|troppo (?:lung|grand)[a-z]*|te (?:lang|groot)|overschrijd[a-z]*|zbyt (?:dług|duż)[a-z]*|przekracza[a-z]*|çok uzun|aş(?:ıyor|tı|ıldı)|för lång|överskrid[a-z]*|melebihi|terlalu panjang|vượt quá|quá dài|перевищ[а-яіїє]*|تجاوز|يتجاوز|طويل جد|से अधिक|बहुत लंब`,
);

/** What the caller sent. */
const INPUT = concept(
  String.raw`prompts?|\binputs?(?:\b|_)|messages?|conversations?|histor(?:y|ies)|\bcontext\b|sequences?|transcript|dialog(?:ue)?|\brequest(?:ed)?\b|\bquery\b|\btext\b`,
  '输入|提示词?|消息|请求|对话|内容|輸入|內容|訊息|入力|プロンプト|メッセージ|リクエスト|会話|입력|프롬프트|메시지|요청|대화',
  String.raw`запрос[а-я]*|сообщени[а-я]+|ввод[а-я]*|входн[а-я]+|промпт[а-я]*|eingabe[a-z]*|anfrage[a-z]*|nachricht[a-z]*|entrée|invite|requête|demande|saisie`,
  String.raw`entrada|mensajes?|solicitud|petición|mensage[a-z]+|mensagem|solicitação|richiesta|messaggi[a-z]*|invoer|bericht[a-z]*|zapytani[a-z]+|wiadomoś[a-zć]+|girdi|istem`,
);

const TOKEN = concept(String.raw`\btokens?\b|_tokens?\b`, 'token|令牌|词元|トークン|토큰|токен|jetons?');

/** A sign between two numbers says it in every language. */
export const GREATER_SIGN = /\d[^\d.;]{0,12}>=?[^\d.;]{0,12}\d/;

/** Two concepts within one clause, in either order. */
function near(a: string, b: string, characters: number): RegExp {
  return new RegExp(`${a}.{0,${characters}}?${b}|${b}.{0,${characters}}?${a}`);
}

/** The window is named; numbers have to say the rest. */
export const WINDOW_NAMED = new RegExp(WINDOW);

/** The window is named, and that it is exceeded. */
export const WINDOW_EXCEEDED = near(WINDOW, EXCESS, 90);

/** Input too long, without naming a window or unit: `prompt is too long`. Numbers of a field do not follow. */
export const INPUT_TOO_LONG = new RegExp(
  [
    String.raw`(?:prompts?|\binputs?\b|messages|conversation|history|\bcontext\b|transcript|\bchat\b)(?: (?!(?:cache|key|name|id|queue|template|field|file|image|parameter|schema|title|label|variable)s?\b)\w+){0,5}? (?:(?:is|are|was|were|be|became|has become|got|grew|seems?|appears?) )?(?:(?:far|way|much|simply|just) )?(?:too (?:long|large|big)|overlong|over-?length|longer than|larger than|exceed(?:s|ed)?\b|overflow(?:s|ed)?)`,
    String.raw`(?:maximum|max) (?:length|size) (?:of|for) (?:this|the|a|your) (?:prompt|conversation|chat|input|context)`,
    String.raw`(?:your|the|this) message is (?:too (?:long|large)|longer than)`,
    String.raw`too (?:long|large|big|much|many) (?:\w+ ){0,3}?(?:of )?(?:prompt|input|context|conversation|history)\b(?! (?:items?|elements?|files?|images?))`,
    String.raw`(?:shorten|reduce|decrease|trim|truncate) (?:(?:the|your) )?(?:(?:length|size|number) of )?(?:(?:the|your) )?(?:\w+ )?(?:prompt|messages|conversation|chat history|history|input (?:text|prompt|messages|length))`,
    '(?:输入|提示词?|消息|对话|輸入|訊息|prompt|입력|프롬프트|메시지|대화|入力|プロンプト|メッセージ|会話).{0,24}?(?:过长|過長|太长|太長|超长|超長|長すぎ|너무 ?(?:깁|길|긴|큽)|초과)',
    String.raw`(?:запрос|сообщени|ввод|промпт|eingabe|anfrage|prompt|nachricht|entrée|invite|requête|saisie|entrada|mensaje|mensage|solicitud|solicitação|petición|richiesta|input|invoer)[^.]{0,24}? (?:слишком (?:длин|больш|велик)|zu lang|zu groß|trop (?:long|grand)|(?:demasiado|muy|muito|mucho) (?:larg|long|extens|grand)|troppo lung|te lang)`,
  ].join('|'),
);

/** What was sent. */
export const INPUT_WORDS = new RegExp(INPUT);

/** The unit that a window is counted in. */
export const TOKEN_WORDS = new RegExp(TOKEN);

/** Something is over a limit, not yet of what. */
export const EXCESS_WORDS = new RegExp(EXCESS);

/** What a model reads at once, in every language at hand. */
export const CONTEXT_WORDS =
  /context|contex|kontext|konteks|kontekst|contest|контекст|上下文|コンテキスト|컨텍스트|bağlam|ngữ cảnh|السياق|संदर्भ|n_?ctx|length|长度|kv|window/;

/** Words that make a limit the model's own rather than an account's: `the limit for this model`. */
export const OF_THE_MODEL = /\b(?:model|maximum|limit for|size limit|context|window)\b/;

/** Requests or tokens per time, whatever they are called. */
export const RATE_WORDS = new RegExp(
  [
    String.raw`rate[-_ ]?limit|too many (?:concurrent )?(?:requests|calls)|concurren(?:t|cy) (?:\w+ )?(?:limit|requests?|calls)|requests? (?:are )?too (?:often|frequent|fast)|throttl|\bquota\b|slow down`,
    String.raw`per[- _](?:minute|second|hour|day|week|month)|/ ?(?:min(?:ute)?|sec(?:ond)?|hour|day)\b|\b(?:i|o)?tp[mdhs]\b|\brp[mdhs]\b`,
    String.raw`\b(?:daily|hourly|monthly|weekly|minute)\b[a-z ]{0,20}\b(?:limit|usage|tokens?|allowance|cap)`,
    String.raw`wait (?:\w+ ){0,6}before|(?:try|retry)(?:ing)? (?:your request )?(?:again )?(?:in \d|after \d|after a|in a (?:few|moment|minute)|shortly)|retry (?:shortly|in|after)`,
    '频率|限流|限速|请求过多|请求过于频繁|配额|レート制限|リクエストが多すぎ|요청(?:이)? 너무 많|속도 제한|частот|слишком много запросов|límite de (?:velocidad|tasa|frecuencia)|limite de (?:taxa|débit)|ratenlimit|zu viele anfragen|trop de requêtes|demasiadas solicitudes|muitas solicitações',
  ].join('|'),
);

/** Money, not tokens. */
export const BILLING_WORDS = new RegExp(
  [
    String.raw`\bcredits?\b|billing|\bbalance\b|payment|insufficient[ _](?:funds|quota|balance)|exceeded your current quota|spend(?:ing)?[-_ ]?(?:limit|cap)|\bafford\b|extra usage|upgrade your plan|purchase|top[- ]?up|\bsubscription\b|\barrears\b|overdue`,
    '余额|欠费|充值|账户|残高|クレジット不足|잔액|크레딧|баланс|средств|guthaben|solde|crédit|saldo',
  ].join('|'),
);

/** The key or who it belongs to. */
export const KEY_WORDS =
  /(?:invalid|incorrect|missing|expired|revoked|no) (?:x-)?(?:api[-_ ]?key|authentication|credentials?|bearer|access token|auth(?:orization)?(?: header| token)?)|(?:access|api|auth|bearer|jwt|session|refresh|security|csrf|oauth|id)[-_ ]token|unauthori[sz]ed|authentication (?:failed|error)|permission denied/;

/** The server, not the request: a deadline is called a context in Go. */
export const OUTAGE_WORDS =
  /context (?:deadline|cancell?ed|was cancell?ed)|deadline exceeded|timed? ?out|overload|temporarily unavailable|service unavailable|bad gateway|upstream (?:connect|error|request)|connection (?:reset|refused|closed|error)|internal (?:server )?error|at capacity|capacity (?:exceeded|constraints)|max(?:imum)? retries|try again later|engine is (?:currently )?overloaded/;

/** The answer's length: never repaired by a shorter input. */
export const OUTPUT_WORDS =
  /max[-_ ]?(?:new|completion|output|generated|gen|decode)?[-_ ]?tokens?(?:_to_sample)?\b|maxoutputtokens|maximum (?:number of )?(?:output|completion|new|generated) tokens|(?:output|completion|generated|new|response|thinking|budget) tokens?|budget_tokens|(?:output|completion|response|generation) length|thinking budget|输出(?:长度|token)|出力トークン/;

/** What stands beside an output limit when the sum with the input is meant. */
export const BESIDE_OUTPUT =
  /context|tokens in (?:the |your )?request|\binputs?\b(?! (?:should|validation|value|error|type))|prompt|messages?\b(?! (?:is|must|because))|\bn_ctx|window|max_model_len|输入|上下文|入力|입력/;

/** Bytes and requests as a whole. */
export const BYTE_WORDS =
  /\bbytes?\b|\b[kmg]i?b\b|\d ?[kmg]i?b\b|body (?:size|is too|too|exceeds)|(?:request|http) body|content[-_ ]length|payload|entity too large|(?:sent|received) message larger|message larger than max|request size|upload|decompress|请求体/;

/** Characters of one string. */
export const CHARACTER_WORDS =
  /\bcharacters?\b|\bchars?\b|string (?:is )?too long|string (?:with|should have|length)|string_above_max|\burl\b|\buri\b|header|字符|文字数|символ|zeichen/;

/** Pictures, pages and files. */
export const MEDIA_WORDS =
  /\bimages?\b|\bimg\b|pixels?|\bdimensions?\b|\bpdfs?\b|\bpages?\b|\bvideos?\b|\baudio\b|\bmedia\b|\bfiles?\b|attachments?|documents?\b|screenshots?|base64|图片|图像|画像|이미지|изображени|bilde?r?\b|imagen|imagem|immagin/;

/** Lists of things other than text. */
export const LIST_WORDS =
  /array (?:is )?too long|(?:too many|maximum (?:number of )?|max(?:imum)? of|at most|up to|limit of|more than|number of)[a-z0-9,' ]{0,24}\b(?:tools?|functions?|items?|elements?|properties|enum|choices|stop sequences?|stop)\b|(?:tools|functions|stop|items|properties|enum|labels|metadata)\b[a-z_' ]{0,24}(?:too many|too long|exceed|at most|maximum)/;

/** A cap on the number of messages. */
export const MESSAGE_COUNT_WORDS =
  /too many (?:\w+ )?(?:messages|turns|conversation turns|rounds|contents)\b|(?:number of|maximum|max|at most|up to|limit of|more than|exceeds?|than) (?:\w+ |[\d,]+ ){0,4}(?:messages|turns|rounds)\b|messages?'?:? (?:array|list|count|number)[a-z ]{0,20}(?:too|exceed|limit|maximum)|messages'?:? (?:at most|must (?:have|contain)|array too long)|(?:input|messages|contents)[\]'".: ]{1,4}array (?:is )?too long|(?:消息|对话)(?:数量|条数|轮数)/;

/** Thinking that came back changed or cannot be read any more. */
export const THINKING_WORDS =
  /(?:thinking|redacted_thinking|reasoning|encrypted[_ ]content|signature).{0,120}(?:cannot be modified|must remain|invalid|mismatch|could not be (?:verified|decrypted|parsed)|not (?:be )?(?:found|match|valid|verified|decrypt)|without its required|failed|corrupt)|(?:invalid|missing|mismatched|unknown)[a-z `'_]{0,24}(?:signature|thinking block|encrypted content)/;

/** What the model is not allowed to read or say. */
export const FILTER_WORDS =
  /content[-_ ]?(?:filter|policy|management|moderation)|safety (?:system|policy|filter|reasons)|responsible ai|blocked by|flagged|usage polic|prohibited|inappropriate content|data inspection|敏感|不当|内容安全|inapproprié|inapropiad/;
