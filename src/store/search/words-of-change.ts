/** Somebody or something stands, or comes, elsewhere in space or time. */
const MOVES = [
  String.raw`moved (?:\p{L}+ ){0,6}?(?:to|from|in with|out)|moving (?:to|in with)|relocat\w+|migrat(?:ed|es|ing)|transferr?ed|postponed|rescheduled`,
  String.raw`umgezogen|verschoben|verlegt|vorverlegt`,
  String.raw`déplacée?s?|déménagée?s?|reportée?s?|décalée?s?`,
  String.raw`trasladad[oa]s?|trasladamos|movid[oa]s? a|mudad[oa]s?|mudé|aplazad[oa]s?|pospuest[oa]s?|spostat[oaie]|trasferit[oaie]|traslocat[oaie]|rinviat[oaie]`,
].join('|');
/** A number is another one. */
const AMOUNTS = [
  String.raw`(?:raised|lowered|increased|reduced|decreased|bumped|cut|doubled|halved|shortened|extended|went|goes|gone) (?:\p{L}+ ){0,6}?(?:to|from|by|up|down)`,
  String.raw`(?:was|were|been|got|gets|is|are) (?:now )?(?:raised|lowered|increased|reduced|cut|extended|shortened)`,
  String.raw`erhöht|gesenkt|verringert|angehoben|verlängert|verkürzt|augmentée?s?|baissée?s?|réduite?s?|aumentad[oa]s?|subid[oa]s?|bajad[oa]s?|reducid[oa]s?|aumentat[oaie]|ridott[oaie]`,
].join('|');
const OTHERS = [
  String.raw`no longer|any ?more|correction|instead|(?:i was|that was) (?:wrong|mistaken)|turns out|scratch that|as of|from now on|used to`,
  String.raw`renam\w+|chang(?:ed|es|ing) (?:to|from|my|our|his|her|their|its|the|it)|switch(?:ed|es|ing) (?:\p{L}+ ){0,6}?(?:to|from|over)|replac(?:ed|es|ing)`,
  String.raw`(?:was|were|been|got|gets|is|are) (?:now )?(?:changed|moved|pushed|delayed|updated|switched)`,
  String.raw`nicht mehr|stattdessen|geändert|gewechselt|umgestellt|umbenannt|korrektur|ab sofort|ersetzt`,
  String.raw`ne \p{L}+ plus|n['’]\p{L}+ plus|en fait|désormais|dorénavant|changée?s?|modifiée?s?|remplacée?s?|renommée?s?|rectification`,
  String.raw`ya no|en realidad|cambiad[oa]s?|cambiamos|cambió|modificad[oa]s?|reemplazad[oa]s?|sustituid[oa]s?|corrección|a partir de ahora`,
  String.raw`non \p{L}+ più|cambiat[oaie]|modificat[oaie]|sostituit[oaie]|correzione`,
].join('|');
/** What ends where a letter ends; `\b` knows no accents. */
const wordwise = (pattern: string): string => String.raw`(?<![\p{L}\p{N}])(?:${pattern})(?![\p{L}\p{N}])`;

const MOVES_UNSPACED =
  '搬到|搬去|搬家|搬迁|迁到|迁至|迁移到|移到|转移到|推迟|改到|改在|引っ?越|転居|移転|移し|移り|移動し|延期|옮겼|옮긴|옮겨|이전했|이사|연기(?:됐|되|된|했)';
const AMOUNTS_UNSPACED =
  '提高到|提高了|上调|降到|降低到|降至|增加到|减少到|引き上げ|引き下げ|増やし|減らし|올렸|올려|내렸|늘렸|줄였';
const OTHERS_UNSPACED =
  '不再|改成|改为|改用|换成|换到|变更|更正|変更|変わ(?:っ|り)|変え(?:た|まし)|切り替え|転職|訂正|改め|もう.{1,20}(?:ない|ません)|변경|바뀌|바뀐|바꾸|바꿨|이직|정정|더 이상';

/** Says by itself that something is no longer as it was. */
const CHANGES = new RegExp(
  `${wordwise(`${MOVES}|${AMOUNTS}|${OTHERS}`)}|${MOVES_UNSPACED}|${AMOUNTS_UNSPACED}|${OTHERS_UNSPACED}`,
  'iu',
);
const MOVE = new RegExp(`${wordwise(MOVES)}|${MOVES_UNSPACED}`, 'iu');
const AMOUNT = new RegExp(`${wordwise(AMOUNTS)}|${AMOUNTS_UNSPACED}`, 'iu');
/** Says so where both are of the same. Something new may stand beside the old, except of what one has one. */
const NOW = new RegExp(
  `${wordwise(
    [
      'now|nowadays|these days|currently|by now|(?:my|our|his|her|their|its|the) new',
      'a new (?:job|address|home|flat|apartment|number|phone number|name|password|port|version|role|position|boss)',
      String.raw`started (?:working|(?:at|as|with)|(?:my|our|his|her|their|a) new)`,
      'jetzt|nun|inzwischen|mittlerweile|neue[rsnm]?|maintenant|actuellement|ahora|actualmente|adesso|ora|agora',
    ].join('|'),
  )}|现在|如今|目前|新的|現在|今[はで]|今では|新しい|지금|이제|현재|새로`,
  'iu',
);
/** Where or when something is. */
const PLACED = new RegExp(
  `${wordwise(
    [
      'in|at|on|to|near|under|by|from|with|lives?|am|um|im|bei|auf|nach|zu[mr]?|à|aux?|en|dans|chez|el|los|las|a|ad|all[aeo]|nel|nella',
      String.raw`(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?`,
      '(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica',
    ].join('|'),
  )}|\\d|在|是|に|で|へ|は|[에로]|요일|[月曜点時]`,
  'iu',
);
const NUMBER =
  /\p{N}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|zwei|drei|vier|fünf|zehn|deux|trois|dix|dos|tres|diez|january|february|march|april|may|june|july|august|september|october|november|december)\b|[一二三四五六七八九十百千]/iu;

/** Whether a sentence says by itself that something is no longer as it was. */
export function tellsOfChange(text: string): boolean {
  return CHANGES.test(text);
}

/** Whether a sentence says how something is now. */
export function tellsOfNow(text: string): boolean {
  return NOW.test(text);
}

/** What moved stood somewhere before, and what was raised had a number or a date: what says nothing of the kind was not changed by it. */
export function couldHaveChanged(newer: string, older: string): boolean {
  if (MOVE.test(newer) && !PLACED.test(older)) return false;
  return !AMOUNT.test(newer) || NUMBER.test(older);
}
