/**
 * The words of provider errors in other languages, with the English that the word families are
 * written in. Stems, not sentences: what comes out is no English, but it has the words of a wording
 * in their order, so that one set of rules reads them all. Earlier lines win where two begin at the
 * same place, so phrases stand before their words.
 */

/** English; then stems of languages that write words apart, without their endings. */
const WORDS: readonly (readonly [english: string, stems: string])[] = [
  // Rates and money first: they contain words of limits.
  [
    'per minute',
    'pro minute|je minute|par minute|por minuto|al minuto|в минуту|на минуту|na minutę|za minutu|mỗi phút|per menit|dakika başına|dakikada|per minuut|per minut|في الدقيقة|प्रति मिनट',
  ],
  [
    'per second',
    'pro sekunde|par seconde|por segundo|al secondo|в секунду|na sekundę|mỗi giây|per detik|saniyede|per seconde',
  ],
  [
    'per day',
    'pro tag|je tag|par jour|por día|por dia|al giorno|в день|в сутки|dziennie|mỗi ngày|per hari|günlük|per dag|tageslimit|tägliche|quotidien|diari[oa]|giornalier|dzienn|ежедневн|суточн|يومي|दैनिक',
  ],
  ['per hour', 'pro stunde|par heure|por hora|all.ora|в час|na godzinę|mỗi giờ|per jam|saatlik|per uur'],
  ['per month', 'pro monat|par mois|por mes|por mês|al mese|в месяц|monatlich|mensuel|mensua|mensal|aylık|hàng tháng'],
  [
    'too many requests',
    'zu viele anfragen|trop de requêtes|demasiadas (?:solicitudes|peticiones)|muitas (?:solicitações|requisições)|troppe richieste|слишком много запросов|zbyt wiele (?:żądań|zapytań)|te veel verzoeken|çok fazla istek|quá nhiều yêu cầu|terlalu banyak permintaan|för många förfrågningar|طلبات كثيرة جد|बहुत अधिक अनुरोध',
  ],
  [
    'rate limit',
    'ratenlimit|ratenbegrenzung|anfragelimit|limite de débit|límite de (?:velocidad|tasa|frecuencia)|limite de (?:taxa|requisições)|limite di frequenza|част[оа]т|ограничени[ея] скорости|limit(?:u)? (?:żądań|zapytań)|hız sınır|giới hạn tốc độ|batas laju|حد المعدل',
  ],
  [
    'try again later',
    'versuchen sie es später|später erneut|réessayez|inténtelo (?:de nuevo|más tarde)|vuelva a intentarlo|tente novamente|riprova|повторите|попробуйте (?:позже|снова)|spróbuj ponownie|probeer het later|thử lại sau|coba lagi|daha sonra tekrar',
  ],
  ['quota', 'kontingent|cuota|cota de|quota|квот|hạn mức|kuota|kota|حصة'],
  [
    'credit balance',
    'guthaben|kontostand|crédits?|crédito|saldo|solde|credito|баланс|недостаточно средств|środk|tegoed|bakiye|số dư|الرصيد|रकम',
  ],
  [
    'billing',
    'abrechnung|zahlung|facturation|paiement|facturación|pago|pagamento|оплат|płatno|betaling|ödeme|thanh toán',
  ],
  [
    'api key',
    'api-schlüssel|schlüssel|clé d.api|clave de api|chave de api|chiave api|ключ[а-я]* api|api[- ]ключ[а-я]*|klucz[a-z]* api',
  ],
  ['unauthorized', 'nicht autorisiert|non autorisé|no autorizado|não autorizado|non autorizzat|не авторизован'],
  [
    'content filter',
    'inhaltsfilter|inhaltsrichtlinie[a-z]*|filtre de contenu|politique de contenu|filtro de contenido|política de contenido|filtro de conteúdo|inapproprié|inapropiad|inadequad|неприемлем|запрещ[её]нн',
  ],
  // The answer.
  [
    'output tokens',
    'ausgabe-?tokens?|ausgabetoken|tokens? de sortie|jetons de sortie|tokens? de sa[ií]da|tokens? de salida|token di output|выходных токенов|tokenów wyjściowych',
  ],
  ['output', 'ausgabe|antwortlänge|sortie|salida|saída|выходн|ответа'],
  // Other units.
  ['characters', 'zeichen|caractères|caracteres|caratteri|символ|znak|tekens|karakter|ký tự|حرف'],
  [
    'images',
    'bild|bilder|imagen|imágenes|imagem|imagens|immagin|изображени|obraz|afbeelding|görsel|hình ảnh|gambar|صورة',
  ],
  ['file', 'datei|fichier|archivo|arquivo|файл|plik|bestand|dosya|tệp|berkas|ملف'],
  ['pages', 'seiten|páginas|pagine|страниц|stron(?:y)?|sayfa'],
  [
    'number of messages',
    'anzahl der nachrichten|nombre de messages|número de (?:mensajes|mensagens)|numero di messaggi|количество сообщений|liczba wiadomości|aantal berichten|mesaj sayısı',
  ],
  // Over a limit.
  [
    'too many',
    'zu viele?|trop de|demasiad[oa]s|muit[oa]s|troppi|troppe|слишком много|zbyt wiele|te veel|çok fazla|quá nhiều',
  ],
  [
    'too long',
    'zu (?:lang|umfangreich)|trop (?:long|volumineu)|(?:demasiado|muy|muito) (?:larg|long|extens)|(?:long|extens)[oa] demais|troppo (?:lung|estes)|слишком (?:длин|объ[её]м)|(?:zbyt|za) dług|te lang|çok uzun|för lång|quá dài|terlalu panjang|příliš dlouh|занадто довг|طويل(?:ة)? جد|बहुत लंब',
  ],
  [
    'too large',
    'zu groß|trop grand|(?:demasiado|muy|muito) grande|grande demais|troppo grand|слишком (?:больш|велик)|(?:zbyt|za) duż|te groot|çok büyük|för stor|quá lớn|terlalu besar|занадто велик|كبير(?:ة)? جد|बहुत बड़',
  ],
  [
    'exceeds',
    'überschreit|liegt über|über dem|oberhalb|überschritt|übersteig|überstieg|dépass|excèd|excéd|exced|sobrepas|super(?:a|ó|an|ado|ada)(?!\\p{L})|ultrapass|eccede|ecced|oltre(?:passa)?|превы[шс]|перевищ|przekrac|przekrocz|overschr[ij]|aş(?:ıyor|tı|ıldı|an)|överskrid|vượt|melebihi|melampaui|تتجاوز|يتجاوز|تجاوز|से अधिक',
  ],
  [
    'more than',
    '(?:größer|länger|mehr) als|plus (?:longue?|grande?|de)|supérieure? à|(?:mayor|más) (?:que|de)|maior (?:que|do que)|mais (?:que|do que|de)|(?:maggiore|più) (?:di|del)|больше,? чем|более|więcej niż|meer dan|lớn hơn|lebih dari',
  ],
  [
    'does not fit',
    'pass(?:t|en) nicht|(?:ne |n.)(?:rentre|tient)(?:nent)? pas|no cabe|não cabe|non (?:entra|sta)|не помещает|nie mieści|past niet|sığm[ıi]y|không vừa|tidak muat',
  ],
  [
    'is full',
    'ist voll|voll(?!\\p{L})|ist erschöpft|ist ausgeschöpft|est plein|est saturé|está llen|está chei|è pien|заполнен|переполнен|jest pełn|är full|is vol|doldu|đã đầy|penuh',
  ],
  [
    'must be less than',
    'inférieure?s? (?:ou égale?s? )?à|(?:inferior|menor) (?:o igual |ou igual )?(?:que|a)|kleiner(?: oder gleich)?(?: als)?|weniger als|inferiore (?:o uguale )?a|меньше|mniejsz',
  ],
  [
    'at most',
    'höchstens|maximal(?!\\p{L})|nur bis zu|bis zu|au (?:maximum|plus)|jusqu.à|n.(?:en )?accepte que|como máximo|hasta|no máximo|até|al massimo|fino a|не более|до(?!\\p{L})|najwyżej|en fazla|tối đa|paling banyak|hoogstens|högst',
  ],
  [
    'shorten',
    'verkürz|kürz(?:en|e)|reduzier|raccourci|réduire|réduise|acort|reduzca|reduc|reduz|encurt|riduc|ridur|accorci|сократи|уменьши|skró[ćc]|verkort|kısalt|rút ngắn|giảm|persingkat|förkorta',
  ],
  // What is limited.
  [
    'context window',
    'kontext-?fenster|fenêtre de contexte|ventana de contexto|janela de contexto|finestra (?:di|del) contesto|контекстн[а-яії]+ вікн|контекстн[а-я]+ окн|okn[oa] kontekstu|bağlam pencere|contextvenster|kontextfönst|cửa sổ ngữ cảnh|jendela konteks|نافذة السياق',
  ],
  [
    'context length',
    'kontextlänge|kontextgröße|longueur (?:de|du) contexte|taille (?:de|du) contexte|longitud (?:de|del) contexto|(?:tamanho|comprimento) (?:de|do) contexto|lunghezza del contesto|длин[а-я]* контекста|длин[а-я]* контекстн|długoś[ćc] kontekstu|contextlengte|bağlam uzunlu|độ dài ngữ cảnh|panjang konteks|संदर्भ लंबाई|طول السياق',
  ],
  ['context', 'kontext|contexte|contexto|contesto|контекст|kontekst|bağlam|ngữ cảnh|konteks|السياق|संदर्भ'],
  [
    'maximum',
    'maxim(?:al|um)|höchst(?:zahl|grenze|menge)|obergrenze|máxim|massim|максимальн|maksym|maksimum|azami|maximaal|maximalt|cao nhất|الحد الأقصى|अधिकतम',
  ],
  [
    'limit',
    'grenz(?:e|wert)|limite|límite|лимит|предел|ограничени|обмежен|granic|sınır|giới hạn|batas|gräns|حد(?!\\p{L})|सीमा',
  ],
  ['length', 'länge|longueur|longitud|comprimento|lunghezza|длин|długoś|lengte|uzunlu|độ dài|panjang|längd|طول|लंबाई'],
  ['size', 'größe|taille|tamaño|tamanho|dimensione|размер|rozmiar|grootte|boyut|kích thước|ukuran|storlek'],
  [
    'allowed',
    'erlaubt|zulässig|zugelassen|autoris[ée]|permitid|ammess|consentit|разреш|допустим|dozwol|toegestaan|izin verilen|cho phép|diizinkan|tillåt',
  ],
  [
    'supports',
    'unterstützt|verarbeite[nt]|akzeptiert|prend en charge|accepte|admite|soporta|suporta|aceita|supporta|accetta|поддержива|принима|obsługuje|ondersteunt|destekl|hỗ trợ|mendukung|stöder',
  ],
  // What was sent.
  ['tokens', 'tokens?|jetons?|токен[а-я]*|жетон|tokenów|fichas'],
  [
    'conversation',
    'chatverlauf|gesprächs?(?:verlauf)?|unterhaltung|historique|conversación|historial|conversa|histórico|conversazione|диалог|переписк|история|rozmow|gesprek|sohbet|cuộc trò chuyện|percakapan|المحادثة',
  ],
  [
    'messages',
    'nachricht|messages?|mensaje|mensage|messaggi|сообщени|повідомлен|wiadomoś|bericht|mesaj|tin nhắn|pesan|meddeland|رسال',
  ],
  [
    'prompt',
    'prompt|eingabe|invite|entrée|saisie|entrada|invoer|промпт|ввод|входн|підказк|girdi|istem|lời nhắc|đầu vào|masukan|inmatning|इनपुट|المدخل|موجه',
  ],
  [
    'request',
    'anfrage|requête|demande|solicitud|petición|solicitação|requisição|richiesta|запрос|запит|zapytan|żądani|verzoek|aanvraag|istek|yêu cầu|permintaan|förfrågan|الطلب|अनुरोध',
  ],
  ['model', 'modell|modèle|modelo|modello|модел|modelu|النموذج|मॉडल'],
  ['text', 'texte|texto|testo|текст|tekst|metin|văn bản|teks(?!\\p{L})'],
  ['contains', 'umfasst|enthält|contient|comporte|contiene|contém|содержит|zawiera|bevat|içeriyor|chứa|berisi'],
];

/** English; then words of languages that write without spaces. */
const UNSPACED: readonly (readonly [english: string, words: string])[] = [
  ['per minute', '[每本]?分钟|[每本]?分鐘|(?:1|一)?分(?:間)?(?:あたり|ごと|当たり)|分당|분당|tpm限|1분'],
  ['per second', '每秒|毎秒|초당'],
  ['per day', '每日|每天|(?:1|一)?日(?:あたり|の上限)|일일|하루|1日'],
  ['per month', '每月|月間|월간'],
  [
    'too many requests',
    '请求过多|請求過多|请求过于频繁|请求太频繁|调用过于频繁|リクエストが多すぎ|요청(?:이|이 )? ?너무 ?많',
  ],
  [
    'rate limit',
    '频率|頻率|限流|限速|速率|レート制限|レートリミット|속도 ?제한|요청 ?제한|并发|並行|同時(?:実行|接続|リクエスト)',
  ],
  ['try again later', '稍后再试|稍後再試|しばらく|後でもう一度|やり直して|잠시 후'],
  ['quota', '配额|配額|额度|額度|クォータ|할당량'],
  [
    'credit balance',
    '余额|餘額|欠费|欠費|充值|账户(?![^。，,]{0,12}(?:分钟|每秒|每天|每日|小时|频率|速率|并发))|残高|クレジット(?:不足|残)|잔액|크레딧',
  ],
  ['unauthorized', '密钥无效|未授权|无效的密钥|認証|인증'],
  [
    'content filter',
    '敏感|不当|违规|违禁|内容安全|内容审核|內容審核|不適切|コンテンツ(?:フィルタ|ポリシー)|부적절|콘텐츠 ?(?:필터|정책)|유해',
  ],
  ['output tokens', '输出(?:长度|token)|輸出(?:長度|token)|出力トークン|출력 ?토큰|最大输出|最大出力'],
  ['output', '输出|輸出|出力|출력|生成'],
  ['characters', '字符|字元|文字数|글자|문자 ?수|字数'],
  ['images', '图片|图像|圖片|圖像|画像|이미지|사진'],
  ['file', '文件|檔案|ファイル|파일'],
  ['pages', '页数|頁數|ページ|페이지'],
  ['request body', '请求体|請求體|リクエスト(?:本文|ボディ)|요청 ?본문'],
  ['number of messages exceeds', '(?:消息|对话|訊息|對話)(?:的)?(?:数量|数|条数|轮数|輪數|數量)(?:过多|過多|超|已超)'],
  [
    'number of messages',
    '(?:消息|对话|訊息|對話)(?:的)?(?:数量|条数|轮数|輪數|數量)|メッセージ数|メッセージの数|메시지 ?(?:수|개수)',
  ],
  ['too many', '过多|過多|太多|多すぎ|너무 ?많'],
  ['too long', '过长|過長|太长|太長|超长|超長|長すぎ|長くなりすぎ|長過ぎ|너무 ?(?:깁|길|긴)'],
  ['too large', '过大|過大|太大|大きすぎ|너무 ?(?:큽|큰|크|커)'],
  [
    'exceeds',
    '超过|超出|超過|超限|大于|大於|越界|溢出|超え|上回|オーバー|초과|넘(?:었|습|는|어|겼|김)|(?:已)?达到(?:了)?(?:最大|上限)|達しました|도달',
  ],
  ['more than', '보다 ?(?:깁|길|긴|큽|큰|크|많)'],
  ['must be less than', '小于(?:等于)?|小於|低于|未満|미만'],
  ['at most', '最多|不(?:得|能|可)(?:超过|多于|大于)|至多|(?:まで|以内|以下)|까지|이하'],
  ['does not fit', '放不下|容纳不下|無法容納|无法容纳|収まりません|収まらない|담을 수 없'],
  ['shorten', '缩短|压缩|壓縮|精简|减少|縮短|短く|減らして|短縮|줄여|줄이|清理'],
  ['context window', '上下文(?:的)?窗口|上下文視窗|コンテキスト ?(?:ウィンドウ|ウインドウ)|컨텍스트 ?(?:창|윈도)'],
  [
    'context length',
    '上下文(?:的)?(?:长度|大小)|上下文長度|コンテキスト(?:の)?(?:長|サイズ)さ?|컨텍스트 ?(?:길이|크기)',
  ],
  ['context', '上下文|コンテキスト|文脈|컨텍스트|문맥'],
  ['maximum', '最大(?:值)?|最高|최대(?:치)?|최댓값'],
  ['limit', '上限|限制|限额|制限|한도|제한|リミット'],
  ['allowed', '允许|允許|許可|허용'],
  ['supports', '支持|支援|サポート|対応|지원|接受'],
  ['length', '长度|長度|長さ|길이|字长'],
  ['size', '大小|サイズ|크기'],
  ['tokens', '令牌|词元|トークン|토큰'],
  ['conversation', '会话|對話|对话|聊天|历史|歷史|会話|対話|履歴|チャット|대화|채팅'],
  ['messages', '消息|訊息|メッセージ|메시지|(?<=\\d ?)条(?![件款数目例])'],
  ['prompt', '提示词?|提示詞|输入|輸入|入力|プロンプト|입력|프롬프트'],
  ['request', '请求|請求|リクエスト|要求|요청'],
  ['content', '内容|內容'],
  ['text', '文本|テキスト|텍스트'],
  ['model', '模型|モデル|모델'],
  ['actual', '当前|實際|实际|現在|현재'],
];

/** Letters of scripts that write words apart: the characters of the others end a word. */
const LETTERS = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}\p{M}]`;

const FOREIGN = new RegExp(
  [
    String.raw`(?<!${LETTERS}|_)(?:${WORDS.map(([, stems]) => `(${stems})`).join('|')})${LETTERS}{0,10}(?!${LETTERS}|_)`,
    ...UNSPACED.map(([, words]) => `(${words})`),
  ].join('|'),
  'giu',
);

const ENGLISH: readonly string[] = [...WORDS, ...UNSPACED].map(([english]) => english);

/** Only plain letters and signs, and one of the words that hardly any English sentence lacks. */
const ENGLISH_TEXT =
  /^(?=.*\b(?:the|your|this|too|must|exceeds?|exceeded|you|please|not|than|with|and|was|were|are|limited|only|number|length|allowed)\b)[\t\n -~\u2000-\u22FF]*$/s;

/** A normalized text with the words that the rules know turned into English; an English text comes back as it is. */
export function toEnglishWords(text: string): string {
  if (ENGLISH_TEXT.test(text)) return text;
  return text
    .replaceAll(FOREIGN, (whole, ...groups: readonly unknown[]) => {
      const place = groups.findIndex((group) => group !== undefined);
      const english = ENGLISH[place];
      return english === undefined ? whole : ` ${english} `;
    })
    .replaceAll(/ {2,}/g, ' ')
    .replaceAll(/ ([.,:;)])/g, '$1')
    .trim();
}
