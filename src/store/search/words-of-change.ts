import { orderedChangesOf } from './orders-of-change.ts';

/** Somebody or something stands, or comes, elsewhere in space or time. */
const MOVES = [
  String.raw`moved (?:\p{L}+ ){0,6}?(?:to|from|in with|out)|moving (?:to|in with)|relocat\w+|migrat(?:ed|es|ing)|transferr?ed|postponed|rescheduled`,
  String.raw`umgezogen|verschoben|verlegt|vorverlegt`,
  String.raw`déplacée?s?|déménagée?s?|reportée?s?|décalée?s?`,
  String.raw`trasladad[oa]s?|trasladamos|movid[oa]s? a|mudad[oa]s?|mudé|aplazad[oa]s?|pospuest[oa]s?|spostat[oaie]|trasferit[oaie]|traslocat[oaie]|rinviat[oaie]`,
  String.raw`adiad[oa]s?|remarcad[oa]s?|transferid[oa]s?|verhuisd|verplaatst|verzet|uitgesteld|verschoven`,
].join('|');
/** A number is another one. */
const AMOUNTS = [
  String.raw`(?:raised|lowered|increased|reduced|decreased|bumped|cut|doubled|halved|shortened|extended|went|goes|gone) (?:\p{L}+ ){0,6}?(?:to|from|by|up|down)`,
  String.raw`(?:was|were|been|got|gets|is|are) (?:now )?(?:raised|lowered|increased|reduced|cut|extended|shortened)`,
  String.raw`erhöht|gesenkt|verringert|angehoben|verlängert|verkürzt|augmentée?s?|baissée?s?|réduite?s?|aumentad[oa]s?|subid[oa]s?|bajad[oa]s?|reducid[oa]s?|aumentat[oaie]|ridott[oaie]`,
  String.raw`reduzid[oa]s?|verhoogd|verlaagd|verlengd|verkort`,
].join('|');
const OTHERS = [
  String.raw`no longer|any ?more|correction|instead|(?:i was|that was) (?:wrong|mistaken)|turns out|scratch that|as of|from now on|used to`,
  String.raw`renam(?:ed|es|ing)|chang(?:ed|es|ing) (?:to|from|my|our|his|her|their|its|the|it)|switch(?:ed|es|ing) (?:\p{L}+ ){0,6}?(?:to|from|over)|replac(?:ed|es|ing)`,
  String.raw`(?:was|were|been|got|gets|is|are) (?:now )?(?:changed|moved|pushed|delayed|updated|switched)`,
  String.raw`nicht mehr|stattdessen|geändert|gewechselt|umgestellt|umbenannt|korrektur|ab sofort|ersetzt`,
  String.raw`ne \p{L}+ plus|n['’]\p{L}+ plus|en fait|désormais|dorénavant|changée?s?|modifiée?s?|remplacée?s?|renommée?s?|rectification`,
  String.raw`ya no|en realidad|cambiad[oa]s?|cambiamos|cambió|modificad[oa]s?|reemplazad[oa]s?|sustituid[oa]s?|corrección|a partir de ahora`,
  String.raw`non \p{L}+ più|cambiat[oaie]|modificat[oaie]|sostituit[oaie]|correzione|going forward|henceforth`,
  String.raw`mud(?:ou|aram|ei|amos|ámos)(?:-\p{L}+)? (?:\p{L}+ ){0,4}?(?:para|pra|de)|alterad[oa]s?|alterou|trocad[oa]s?|troc(?:ou|amos|ámos)|renomead[oa]s?|já não|não \p{L}+ mais|em vez disso|correção|deix(?:ou|amos|ámos) de`,
  String.raw`niet (?:meer|langer)|voortaan|vanaf nu|in plaats daarvan|gewijzigd|veranderd|hernoemd|vervangen|overgestapt|omgezet|correctie`,
].join('|');
/** What ends where a letter ends; `\b` knows no accents. */
const wordwise = (pattern: string): string => String.raw`(?<![\p{L}\p{N}])(?:${pattern})(?![\p{L}\p{N}])`;

const EASTERN_MOVES = [
  String.raw`przeniesion\p{L}|przeni(?:eśliśmy|osłem|osłam|ósł|osła|eśli)|przesunięt\p{L}|przełożon\p{L}|przeprowadzi(?:łem|łam|liśmy|ł|ła|li)`,
  String.raw`перен[её]с(?:ли|ла)?|перенес[её]н[аоы]?|перееха(?:л|ла|ли)|перемести(?:л|ла|ли)|перемещ[её]н[аоы]?|отложи(?:л|ла|ли)|отложен[аоы]?`,
  String.raw`taşın(?:dı|dım|dık)|taşıdı[mk]|erteledik|ertelendi`,
].join('|');
const EASTERN_AMOUNTS = [
  String.raw`(?:zwiększ|zmniejsz|podniesi|obniż|wydłuż|skróc)on\p{L}|zwiększyliśmy|podnieśliśmy|obniżyliśmy`,
  String.raw`увелич(?:или|ил|ила|ен[аоы]?)|уменьш(?:или|ил|ила|ен[аоы]?)|подня(?:ли|л|ла|т[аоы]?)|сни(?:зили|зил|зила|жен[аоы]?)|повы(?:сили|сил|сила|шен[аоы]?)|продл(?:или|ил|ила|ен[аоы]?)`,
  String.raw`yükselt(?:ildi|tik)|artır(?:ıldı|dık)|düşür(?:üldü|dük)|azalt(?:ıldı|tık)|uzatıldı`,
].join('|');
const EASTERN_OTHERS = [
  String.raw`już nie|od teraz|zamiast tego|zmienion\p{L}|zmieni(?:liśmy|łem|łam|ł|ła|ło|li)|zastąpion\p{L}|przeszliśmy na|przemianowan\p{L}|sprostowanie`,
  String.raw`больше не|вместо этого|отныне|впредь|с этого момента|измени(?:л|ла|ли|лся|лась|лось|лись)|измен[её]н[аоы]?|поменял(?:и|а|ся|ась|ось|ись)?|смени(?:л|ла|ли|лся)|переименова(?:л|ла|ли|н[аоы]?)|замени(?:л|ла|ли)|замен[её]н[аоы]?|перешли на|поправка`,
  String.raw`artık|bundan (?:sonra|böyle)|bunun yerine|değişti|değiştir(?:ildi|dik)|düzeltme|geçtik`,
].join('|');
const MOVES_UNSPACED =
  '搬到|搬去|搬家|搬迁|迁到|迁至|迁移到|移到|转移到|推迟|改到|改在|引っ?越|転居|移転|移し|移り|移動し|延期|옮겼|옮긴|옮겨|이전했|이사|연기(?:됐|되|된|했|해|하[자세])|미뤄';
const AMOUNTS_UNSPACED =
  '提高到|提高了|上调|调到|调整到|降到|降低到|降至|增加到|减少到|引き上げ|引き下げ|増やし|減らし|올렸|올려|내렸|내려|늘렸|늘려|줄였|줄여|낮춰';
const OTHERS_UNSPACED =
  '不再|改成|改为|改用|重命名|设为|设成|设置为|换成|换到|变更|更正|変更|変わ(?:っ|り)|変え(?:た|て|よう|まし)|置き換え|切り替え|転職|訂正|改め|もう.{1,20}(?:ない|ません)|변경|바뀌|바뀐|바꾸|바꿨|바꿔|바꿉|이직|정정|더 이상';

/** Polish, Russian and Turkish are written with other letters too; most texts have none of them. */
const EASTERN = /[\u0100-\u04ff]/u;

/** Whether a text has one of the words. All are in small letters, and so is what they are looked for in: that is faster than any case. */
function saying(spaced: string, eastern: string, unspaced: string): (text: string) => boolean {
  const common = new RegExp(`${wordwise(spaced)}|${unspaced}`, 'u');
  const others = new RegExp(wordwise(eastern), 'u');
  return (text) => {
    const lower = text.toLowerCase();
    return common.test(lower) || (EASTERN.test(lower) && others.test(lower));
  };
}

const saysMove = saying(MOVES, EASTERN_MOVES, MOVES_UNSPACED);
const saysAmount = saying(AMOUNTS, EASTERN_AMOUNTS, AMOUNTS_UNSPACED);
/** Says by itself that something is no longer as it was. */
const saysChange = saying(
  `${MOVES}|${AMOUNTS}|${OTHERS}`,
  `${EASTERN_MOVES}|${EASTERN_AMOUNTS}|${EASTERN_OTHERS}`,
  `${MOVES_UNSPACED}|${AMOUNTS_UNSPACED}|${OTHERS_UNSPACED}`,
);
/** Says so where both are of the same. Something new may stand beside the old, except of what one has one. */
const NOW = new RegExp(
  `${wordwise(
    [
      'now|nowadays|these days|currently|by now|(?:my|our|his|her|their|its|the) new',
      'a new (?:job|address|home|flat|apartment|number|phone number|name|password|port|version|role|position|boss)',
      String.raw`started (?:working|(?:at|as|with)|(?:my|our|his|her|their|a) new)`,
      'jetzt|nun|inzwischen|mittlerweile|neue[rsnm]?|maintenant|actuellement|ahora|actualmente|adesso|ora|agora|atualmente',
      'nu|tegenwoordig|inmiddels|nieuwe|teraz|obecnie|теперь|сейчас|şimdi|şu an',
    ].join('|'),
  )}|现在|如今|目前|新的|現在|今[はで]|今では|新しい|지금|이제|현재|새로`,
  'iu',
);
/** Where something is, or when. */
const PLACED = new RegExp(
  `${wordwise(
    [
      'in|into|inside|at|on|to|near|behind|under|by|from|with|lives?|am|um|im|bei|auf|nach|zu[mr]?|à|aux?|en|dans|chez|el|los|las|a|ad|all[aeo]|nel|nella',
      String.raw`op|bij|em|na|nas|ao|às|w|przy|во?|на|\p{L}+['’][dt][ae]`,
    ].join('|'),
  )}|在|是|に|で|へ|は|[에로]|月`,
  'iu',
);
const TIMED = new RegExp(
  `${wordwise(
    [
      'today|tonight|tomorrow|noon|midnight|mornings?|afternoons?|evenings?|nights?|weeks?|months?|years?|later|spring|summer|autumn|winter',
      String.raw`(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?`,
      '(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica',
      'lunes|martes|miércoles|jueves|viernes|sábado|domingo|(?:segunda|terça|quarta|quinta|sexta)(?:-feira)?|(?:maan|dins|woens|donder|vrij|zater|zon)dag',
      'poniedziałek|wtorek|środę|środa|czwartek|piątek|sobotę|sobota|niedzielę|niedziela|понедельник|вторник|сред[ау]|четверг|пятниц[ау]|суббот[ау]|воскресенье',
      String.raw`(?:pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar)\p{L}*|saat\p{L}*`,
    ].join('|'),
  )}|\\d|曜|点|時|요일`,
  'iu',
);
const NUMBER =
  /\p{N}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|zwei|drei|vier|fünf|zehn|deux|trois|dix|dos|tres|diez|january|february|march|april|may|june|july|august|september|october|november|december)\b|[一二三四五六七八九十百千]/iu;

/** Whether a sentence says by itself that something is no longer as it was. */
export function tellsOfChange(text: string): boolean {
  return saysChange(text) || orderedChangesOf(text).length > 0;
}

/** Whether a sentence says how something is now. */
export function tellsOfNow(text: string): boolean {
  return NOW.test(text);
}

/**
 * What moved stood somewhere before, or was to be at a time if it has another one now, and what was raised had a number or a date:
 * what says nothing of the kind was not changed by it.
 */
export function couldHaveChanged(newer: string, older: string): boolean {
  const ordered = orderedChangesOf(newer);
  const isMove = saysMove(newer) || ordered.includes('move');
  if (isMove && !PLACED.test(older) && !(TIMED.test(newer) && TIMED.test(older))) return false;
  return !(saysAmount(newer) || ordered.includes('amount')) || NUMBER.test(older);
}
