/** Characters of a sentence that are looked at. */
const LONGEST_ORDER = 300;

/** Where a sentence, or a point of a list, begins. */
const HEAD = /(?:^|[.!?;:…]["'”’)]*\s|\n)\s*(?:[-*•]\s+|\d+[.)]\s+)?/gu;
const SENTENCE = /^(?:[^.!?;\n]|[.!?;](?=\S))*[.!?;]?/u;
/** Words of what is changed: none ends a clause. */
const WORDS = String.raw`(?:(?:\S*[^\s.!?;:,]|\d+\.) ){0,8}?`;
const COURTESIES = String.raw`(?:(?:ok(?:ay)?|alright|right|actually|no|yes|yeah|wait|hmm|sorry|so|well|now|and|also|then|next|first|hey|hi|great|thanks|thank you|please|pls|just|instead|from now on|going forward|for now|bitte|also|jetzt|nun|s['’]il (?:te|vous) pla[iî]t|merci de|por favor|per favore|graag|alsjeblieft|alstublieft|proszę|пожалуйста|lütfen)[,:!.]? ){0,3}`;
/** Somebody is told, or told by, to do so. */
const TOLD = [
  String.raw`let['’]?s|let us|(?:you|we) (?:should|must|will|have to|need to|are going to)|(?:you|we)['’](?:ll|re going to)|i(?:['’]ll| will| want (?:you|us) to|['’]d like (?:you|us) to)|make sure to|go ahead and`,
  String.raw`il faut|on va|nous allons|(?:tu devrais|vous devriez|nous devrions)|vamos a|hay que|(?:deberías|debemos|tenemos que)|dobbiamo|dovresti`,
  String.raw`vamos|(?:temos|tens) (?:de|que)|devemos|давай(?:те)?|нужно|надо|trzeba|musimy|powinniśmy`,
].join('|');
const POLITE = String.raw`(?:can|could|will|would) you(?: please)?|(?:peux-tu|pourrais-tu|podrías|puoi|podes|kun je|wil je|możesz)`;
const ADVERBS = String.raw`(?:(?:please|now|also|just|rather|better) )?`;
/** What only holds under a condition is no change yet. */
const HEDGED =
  /(?<!\p{L})(?:if|unless|in case|whenever|maybe|perhaps|some ?day|one day|not|falls|wenn|nicht|vielleicht|peut-être|quizás|forse|talvez|indien|misschien|niet|jeśli|jeżeli|może|nie|если|не|eğer)(?!\p{L})/iu;
/** What is asked for is a question, unless it is asked politely. */
const ASKED = /\?$/u;
/** "Change the test to cover …" asks for work, and changes no value. */
const TO = String.raw`to(?! (?!be )\p{L}+ (?:the|an?|our|my|your|its|their|all|it|them|this|that|these|those)(?!\p{L}))(?! (?:accept|add|allow|avoid|call|catch|check|compile|contain|cover|do|ensure|expect|fail|fix|get|give|handle|have|help|ignore|include|keep|let|log|look|make|match|mention|pass|pick|print|read|reflect|remove|render|return|run|save|say|send|show|skip|store|support|take|tell|test|throw|try|use|wait|work|write)(?=\s))`;
const TIME = String.raw`\d\S*|(?:next|later|tomorrow|noon|midnight|(?:early|late|mid)(?:-| )|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*)(?!\p{L})`;

/** Something is to be elsewhere, in space or time. */
const MOVES = [
  String.raw`(?:move|shift|relocate|migrate|transfer) (?!on |ahead|along|forward)${WORDS}(?:${TO}|into|from|under)`,
  String.raw`(?:push|bring|pull|put|delay|defer) ${WORDS}(?:to|till|until|by) (?:${TIME}|the (?:${TIME}))|postpone|reschedule`,
  String.raw`(?:verschieb|verleg)(?:en wir|en Sie|en|e|t)? ${WORDS}(?:auf|nach|in|zu[mr]?)|(?:lass(?:t|en Sie)? uns|wir (?:sollten|werden|müssen|wollen)|du (?:solltest|sollst|musst)|bitte) ${WORDS}(?:verschieben|verlegen)`,
  String.raw`(?:déplac|report|décal)(?:e|ez|ons|eons|er) ${WORDS}(?:à|au|aux|dans|en|vers|sur)`,
  String.raw`(?:mueve|mueva|movamos|mover|aplaza|aplace|aplacemos|aplazar|traslada|traslade|trasladar) ${WORDS}(?:al?|para|hasta)`,
  String.raw`(?:spost|rinvi|rimand)(?:a|i|ate|iamo|are) ${WORDS}(?:al?|all[aeo]|in|nel|nella|su)`,
  String.raw`(?:mova|mover|adie|adia|adiar|remarque|remarcar|transfira|transferir) ${WORDS}(?:para|pra)`,
  String.raw`(?:verplaats|verzet|verschuif) ${WORDS}(?:naar|op|tot)|(?:laten we|we (?:moeten|gaan|zullen)|je moet|kun je|wil je) ${WORDS}(?:verplaatsen|verzetten|verschuiven)`,
  String.raw`(?:przenieś|przesuń|przełóż|przenieść|przesunąć|przełożyć)(?:my|cie)? ${WORDS}(?:na|do)`,
  String.raw`(?:перенеси|перенесите|перенес[её]м|перенести|перемести|переместите|переместить|сдвинь|сдвиньте|отложи|отложите) ${WORDS}(?:на|во?|до|к)`,
];
/** A number is to be another one. */
const AMOUNTS = [
  String.raw`(?:raise|lower|increase|reduce|decrease|bump|cut|drop|shorten|extend) ${WORDS}(?:${TO}|by(?= (?:\d|half|a (?:third|quarter))))|(?:double|halve) (?:the|our|my|your)|turn ${WORDS}(?:up|down) to`,
  String.raw`(?:erhöh|senk|verringer|verlänger|verkürz|reduzier)(?:en wir|en Sie|e|n|t)? ${WORDS}(?:auf|um)`,
  String.raw`(?:augment|baiss)(?:e|ez|ons|er) ${WORDS}(?:à|de)|rédui(?:s|sez|sons|re) ${WORDS}(?:à|de)`,
  String.raw`(?:sube|suba|subir|aumenta|aumente|aumentar|baja|baje|bajar|baixe|baixar|reduce|reduzca|reducir|reduza|reduzir) ${WORDS}(?:al?|en|hasta|para|em)`,
  String.raw`(?:aumentiamo|aumentate|alza|abbassa|abbassiamo|riduci|riduciamo) ${WORDS}(?:al?|di)`,
  String.raw`(?:verhoog|verlaag|verleng|verkort) ${WORDS}(?:naar|tot|met)`,
  String.raw`(?:zwiększ|zmniejsz|podnieś|obniż|zwiększyć|zmniejszyć|podnieść|obniżyć)(?:my|cie)? ${WORDS}(?:do|na|o)`,
  String.raw`(?:увеличь|увеличьте|увеличить|уменьши|уменьшите|уменьшить|подними|поднимите|поднять|снизь|снизьте|снизить|повысь|повысить) ${WORDS}(?:до|на)`,
];
const OTHERS = [
  String.raw`(?:change|update|convert) ${WORDS}(?:${TO}|into|from)|set (?!up|off|out|aside)${WORDS}${TO}|rename|replace ${WORDS}(?:with|by)|swap ${WORDS}(?:for|with)`,
  String.raw`switch (?:back )?(?!(?:back )?to (?:the )?(?:\S+ )?branch)${WORDS}(?:${TO}|over|from)|go back to|revert ${WORDS}to|stop (?!being)\p{L}+ing`,
  String.raw`setz(?:en wir|e|t)? ${WORDS}auf|(?:änder|stell|tausch)(?:n wir|en wir|e|t)? ${WORDS}(?:auf|in|zu[mr]?|gegen)|wechs(?:le|el|elt|eln wir) ${WORDS}(?:auf|zu[mr]?)|benenn(?:e|t|en wir)|ersetz(?:e|t|en wir)? ${WORDS}durch`,
  String.raw`(?:lass(?:t|en Sie)? uns|wir (?:sollten|werden|müssen|wollen)|du (?:solltest|sollst|musst)|bitte) ${WORDS}(?:ändern|wechseln|umstellen|umbenennen|ersetzen|erhöhen|senken|verringern|verlängern|verkürzen)`,
  String.raw`chang(?:e|ez|eons|er) ${WORDS}(?:en|pour|à|au|par)|renomm(?:e|ez|ons|er)|remplac(?:e|ez|eons|er) ${WORDS}par|pass(?:e|ez|ons|er) ${WORDS}(?:à|aux?|en)`,
  String.raw`(?:cambia|cambie|cambiemos|cambiar) ${WORDS}(?:al?|por|en)|(?:renombra|renombre|renombrar)|(?:reemplaza|reemplace|reemplazar|sustituye|sustituya|sustituir) ${WORDS}(?:por|con)`,
  String.raw`(?:cambia|cambiamo|cambiate|cambiare) ${WORDS}(?:in|con)|rinomin(?:a|iamo|ate|are)|sostituisci ${WORDS}con|passiamo a`,
  String.raw`(?:mude|muda|mudar|altere|altera|alterar|troque|troca|trocar) ${WORDS}(?:para|por|pra)|renomei(?:a|e)|renomear|substitu(?:a|i|ir) ${WORDS}(?:por|pelo|pela)`,
  String.raw`(?:wijzig|verander) ${WORDS}(?:in|naar|op)|hernoem|vervang ${WORDS}door|(?:stap|schakel) ${WORDS}over|(?:laten we|we (?:moeten|gaan|zullen)|je moet|kun je|wil je) ${WORDS}(?:hernoemen|wijzigen|veranderen|vervangen|verhogen|verlagen|overstappen|overschakelen)`,
  String.raw`(?:zmień|zmieńmy|zmieńcie|zmienić) ${WORDS}na|zastąp(?:my|cie|ić)?|(?:przejdź|przejdźmy|przejdźcie|przejść) na|przełącz(?:my|cie|yć)? ${WORDS}na`,
  String.raw`(?:измени|измените|изменить|поменяй|поменяйте|поменять|смени|смените|сменить) ${WORDS}на|переименуй(?:те)?|переименовать|замени(?:те|ть)? ${WORDS}на|(?:перейди|перейдите|перейд[её]м|перейти|переходи|переходим|переключись|переключитесь) на`,
];

const ORDER = new RegExp(
  String.raw`^${COURTESIES}(?:(?<polite>${POLITE}) ${ADVERBS}|(?:${TOLD}) ${ADVERBS})?` +
    String.raw`(?:(?<move>${MOVES.join('|')})|(?<amount>${AMOUNTS.join('|')})|${OTHERS.join('|')})(?![\p{L}\p{N}])`,
  'iu',
);
/** Turkish has its verb at the end, and the order in it: "değiştirme" is none. */
const TURKISH_ORDER =
  /(?<!\p{L})(?:(?<move>taşı|ertele)|(?<amount>artır|arttır|yükselt|düşür|azalt|uzat|kısalt)|değiştir|güncelle|geçelim)(?:[yıiuü]?[iıuü]n(?:iz|ız)?|y?[ae]l[ıi]m)?(?: lütfen)?\s*[.!]?$/iu;
const MAYBE_TURKISH = /[ığşİçöü]/u;

/** What an order changes: where or when something is, a number, or something else. */
export type OrderedChange = 'move' | 'amount' | 'other';

/**
 * Orders to change something, as they are given to an agent: base forms at the head of a sentence, or behind "please", "let's",
 * "you should" and the like. Elsewhere in a sentence they are about something else ("we could move it", "don't raise it").
 */
export function orderedChangesOf(text: string): OrderedChange[] {
  const changes: OrderedChange[] = [];
  for (const { 0: head, index } of text.matchAll(HEAD)) {
    const behind = text.slice(index + head.length, index + head.length + LONGEST_ORDER);
    const change = orderedChange(behind);
    if (change !== null) changes.push(change);
  }
  return changes;
}

function orderedChange(text: string): OrderedChange | null {
  const found = ORDER.exec(text) ?? (MAYBE_TURKISH.test(text) ? TURKISH_ORDER.exec(sentenceOf(text)) : null);
  if (found === null) return null;
  const sentence = sentenceOf(text);
  if (HEDGED.test(sentence) || (ASKED.test(sentence) && found.groups?.['polite'] === undefined)) return null;
  if (found.groups?.['move'] !== undefined) return 'move';
  return found.groups?.['amount'] === undefined ? 'other' : 'amount';
}

function sentenceOf(text: string): string {
  return SENTENCE.exec(text)?.[0] ?? text;
}
