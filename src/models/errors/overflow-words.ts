import { definedOf } from '../../context/policy/defined-of.ts';
import type { ErrorVerdict } from '../model-client.ts';
import { OUTPUT } from './other-kinds.ts';

/** Numbers that an overflow names. Tokens. */
export type Counts = Pick<ErrorVerdict, 'actual' | 'limit' | 'window'> & { readonly input?: number };

/**
 * Words of overflows that no signature knows, by concept, with the stems of other languages: a window that is named, what was
 * sent, and that it is too much.
 */
const WINDOW =
  /context(?!_management| deadline| cancel)|(?:\b|_)ctx|\bkv\b|kv[ _-]cache|\bwindow\b|(?:max_?)?(?:model|seq(?:uence)?|input|prompt|total)_?len|(?:model|sequence|prompt|input|token|max(?:imum)?|size|conversation|chat|thread)(?:'s)? (?:length|limit|capacity|budget|window)|position embeddings|rope limit|n_past|kontext|contesto|контекст|コンテキスト|上下文|컨텍스트|ngữ cảnh|konteks|السياق|संदर्भ|bağlam|बातचीत|สนทนา|model max|最大长度|最大長|\btensor\b|dimension (?:size|\d)|session_len/;

/** Whoever names one of these means the window. */
export const NAMES_WINDOW =
  /context (?:window|length|size|limit)|model(?:'s)? context|\bkv\b|\bn ctx|max ?seq|(?:prompt|input) tokens?\b|prompt is too|(?<!(?:audio|image|video|file) )(?:prompt|input|conversation) (?:is |was )?too long|out of tokens|token limit exceed|prefill|上下文|コンテキスト|컨텍스트|(?:输入|内容|提示词?|对话)(?:过|太|超)长/;

const INPUT =
  /prompts?\b|prompt_|\binputs?\b(?! should| validation)|input_|messages?\b|convers|history|transcript|sequence|\bseq\b|dialog|\bchat\b|\bthread\b|\brequest|\bquery\b|\btext\b|anfrage|eingabe|nachricht|gespräch|requête|entrée|votre texte|invite|solicitud|entrada|mensaje|mensagem|pedido|solicitação|richiesta|запрос|диалог|zapytanie|verzoek|permintaan|lời nhắc|đầu vào|对话|会话|請求|请求|會話|会話|输入|輸入|入力|提示词|文本|历史|대화|입력|프롬프트|요청|इनपुट|запит|istem|girdi|prompten|ввод|内容|プロンプト|\btexto\b|\bcontent\b/;

const TOKEN = /\btok(?:en)?s?\b|_tokens?|ktok|tokeny|tokenów|jetons?\b|token|токен|トークン|토큰|令牌|positions\b/;

/** Beside an input, a window or a count of tokens, one of these is enough. */
const TOO_LONG =
  /(?<!\b(?:took|takes?|taking|rate) )too (?:long|large|big|much|many)|over-?(?:long|length|flow)|(?<!deadline[ _])exceed|surpass|overr[au]n|over the window|longer than|(?:larg|bigg|great)er than|no longer fit|(?:not|n't|cannot) (?:\w+ ){0,2}(?:fit|handle|accommodate)|past what|past the|grown past|more (?:\w+ )?than|at most|fewer than|increas\w+ (?:the )?(?:available )?context|shorter|tokens or fewer|no more than|(?:shorten|reduce|trim|truncate|decrease)\b|its maximum|length limit|larger context|this long|this many|\w\)? ?[<>]=? ?\w|must match|\d vs\.? \d|zu (?:lang|groß|viel)|länger|überschr|passt nicht|trop (?:long|grand|de)|dépass|ne tient pas|demasiad|super[aó]|excede|no cabe|longo|longa\b|ultrapass|não cabe|troppo|superat|przekr|za długi|te (?:veel|lang|groot)|vượt|quá dài|melebihi|terlalu|يتجاوز|طويل|अधिक|लंबा|слишком|превыш|перевищ|надто|занадто|çok (?:uzun|fazla)|aş(?:ıyor|tı|ıldı|ar)|överskrid|för lång|overskrid|for lang|liian|túl|příliš|překr|prea |depăș|เกิน|超|过长|過長|太长|太長|压缩|長す|長くなりすぎ|すぎ(?:ます|る|て)|长了|大きす|초과|너무|넘|벗어/;

/** Said of the window itself, these are enough too. */
const USED_UP =
  /\bfull\b|exhaust|out of (?:room in .{0,20})?(?:[\w']+ )?(?:context|ctx|window|tokens)|no (?:\w+ ){0,2}(?:room|space|context|window|slot) (?:left|remain|free|available)|no more context|no context left|(?:zero|0|no) (?:\w+ ){0,3}remain|remain\w*(?: context)?(?: tokens)? ?[:=]? ?(?:is )?(?:0\b|zero|none)|insufficient|not enough|too small for|free space|shift|reached|\bhit\b|alcanz|atteint|raggiunt|erreicht|atingid|blown|used up|fills?\b|saturat|satur|\bvoll\b|lleno|llena|pieno|cheio|переполн|上限|限制|収まり|한도|\bover\b|beyond|\babove\b|smaller than|acima|dolu\b|über de/;

/** With numbers beside it, these are. */
const LIMITED =
  /limit|maximum|\bmax|only|up to|\bunder\b|must|below|within|allow|support|budget|fail|reject|cannot|insufficient|stops at|at once|at a time|\bsum\b|space for|is all|höchstens|maximal|erlaubt|au plus|alors que|máx|mas |massimo|limite|límite|maar|больш|最多|最大|лимит|максим|최대|en fazla|najwyżej|mask?simal/;

const SMALL_NUMBER = /(?<![\w.-])(?![45]\d\d\b)\d{1,3}(?![\d.,%]*\d|\w)/;

/** A refusal that says that the input is over the window. */
export function saysOverflow(text: string): boolean {
  const counts = countsIn(text);
  const window = WINDOW.test(text) || NAMES_WINDOW.test(text);
  const token = TOKEN.test(text);
  const input = INPUT.test(text);
  const isNamed = window || (token && input);
  // No window of a model is this small: a limit on something else.
  if (!isNamed && counts.length === 0 && SMALL_NUMBER.test(text)) return false;
  if ((window || token || input) && TOO_LONG.test(text)) return true;
  if (isNamed && USED_UP.test(text)) return true;
  const [first, second] = counts;
  if (first === undefined || !(second !== undefined || LIMITED.test(text) || USED_UP.test(text))) return false;
  return token || (second !== undefined && (window || (input && /len(?:gth)?\b|long|size/.test(text))));
}

/** A code that names what is over the window, and that it is; the numbers are Zhipu's and MiniMax's. */
export function codeSaysOverflow(code: string): boolean {
  const isNamed = /^(?:1261|1039)$|(?:input|context|tokens?) (?:limit|length error)/.test(code);
  return isNamed || (saysOverflow(code) && !/request|payload|string|array|message too (?:big|large)/.test(code));
}

/** Counts of an overflow that no signature names, of its words and properties: of two numbers the larger was sent. */
export function countsOf(text: string): Counts {
  const counts = countsIn(text);
  const [first = 0, second = 0] = counts;
  if (counts.length !== 2 || first === second) return {};
  const limit = Math.min(first, second);
  // Beside words of an output, the smaller number may be the output's own maximum.
  return { actual: Math.max(first, second), limit, ...(!OUTPUT.test(text) && { window: limit }) };
}

/** Bare numbers of a text. Below 1,000 they are no tokens of a window, but a cap on something else or a status. */
export function countsIn(text: string, smallest = 1_000): readonly number[] {
  const digits = text.matchAll(/(?<![a-z\d._-]|(?<!\d)\/)\d{1,9}(?![a-z]*\d|\.\d|[a-z]?\/[a-z])/g);
  return [...new Set([...digits].map(Number))].filter((count) => count >= smallest);
}

/** Sentences by which servers refuse a request over the window, with the numbers in them; of two that match, the first one counts. */
const SIGNATURES: readonly (readonly [vendor: string, sentence: RegExp])[] = [
  ['anthropic', /(?:context|max_tokens).{0,80}?(?<input>\d{2,9}) ?\+ ?(?<output>\d{2,9}) ?> ?(?<limit>\d{2,9})/],
  [
    'vllm',
    /is too large: ?(?<output>\d{2,9}).{0,80}?maximum context length is (?<limit>\d{2,9}).{0,80}?has (?<input>\d{2,9}) input/,
  ],
  [
    'tgi',
    /inputs tokens \+ max_new_tokens must be <= (?<limit>\d+)\. given: (?<input>\d+) inputs tokens and (?<output>\d+)/,
  ],
  // The maximum is what the input leaves free.
  ['vllm', /(?:at least 1|greater than 0|positive).{0,40}-\d|-\d+ (?:must|should)/],
  [
    'openai',
    /maximum context length (?:of this model )?is \(?(?<limit>\d{2,9})\)? tokens(?:.{0,80}?(?:resulted in|requested|has)(?: about)? \(?(?<actual>\d{2,9})\)?(?!\d| output)(?: tokens \(.{0,80}?(?<output>\d{2,9}) (?:in|for) the (?:output|completion))?)?/,
  ],
  ['kimi', /supports only (?<limit>\d{2,9}) context/],
  ['dashscope', /range of input length should be \[1, ?(?<limit>\d{2,9})\]/],
  ['snowflake', /max tokens of (?<limit>\d{2,9}) exceeded/],
];

/** The known sentence in a text, with the numbers in it. */
export function signatureIn(text: string): { readonly vendor: string; readonly counts: Counts } | undefined {
  for (const [vendor, sentence] of SIGNATURES) {
    const match = sentence.exec(text);
    if (match === null) continue;
    const { limit, input: sent, output, actual: total } = definedOf(match.groups ?? {});
    const actual = total ?? (sent && Number(sent) + Number(output));
    const input = actual && output && Number(actual) - Number(output);
    const counts = Object.entries(definedOf({ actual, input, limit, window: limit }));
    return { vendor, counts: Object.fromEntries(counts.map(([name, count]) => [name, Number(count)])) };
  }
  return undefined;
}
