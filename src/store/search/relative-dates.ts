import { addDays, dayTerms, mondayOf, monthTerms } from './calendar.ts';
import { seasonsIn } from './seasons.ts';
import { weekdaysIn } from './weekdays.ts';

const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const GERMAN_ONES = 'null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf'.split(' ');

const NUMBER_WORD = `(?:(?:${TENS.join('|')})(?:[ -](?:${ONES.slice(1, 10).join('|')}))?|${ONES.slice(1).toReversed().join('|')}|a hundred)`;

const NEAR_DAY =
  /\b((?:the )?day after tomorrow|(?<!\b(?:ago|(?:day|weekend|week|fortnight|month|year)s? from) )(?:today|tomorrow)|yesterday|tonight|last night|this morning|(?:the )?day before yesterday|vorgestern|gestern|heute)\b|((?<!\p{L})übermorgen(?!\p{L}))|(大前天|前天|昨天|昨晚|今天|明天|大[后後]天|(?<![今以之最然])[后後]天(?![气氣空])|一昨日|昨日|昨夜|今日|明後日|明日)|(어제|어젯밤|그저께|그제(?!야|서야)|오늘(?!날)|내일|모레)/giu;
const NEAR_UNIT =
  /\b(last|this past|this|next|past|over the|during the|at the) (weekend|week|month|year)\b(?! of \d)/giu;
const BEFORE_LAST = /\bthe (weekend|week|month|year) before last\b/giu;
const GERMAN_UNIT =
  /(?<!\p{L})(vorletzte|letzte|vorige|vergangene|diese|übernächste|nächste|kommende)[nrsm]? (Wochenende|Woche|Monat|Jahr)\b/giu;
const CHINESE_UNIT = /(上[个個]?|[这這][个個]?|本|下[个個]?)([周週]末|星期|礼拜|禮拜|[周週]|月)|(去年|今年|明年)/gu;
const JAPANESE_UNIT = /(先々|先|今|再来|来)(週末|週|月)|(一昨年|昨年|来年)/gu;
/** Not "this topic" or "the next address", which begin alike: behind a week or a month stands nothing, or a particle. */
const KOREAN_UNIT =
  /(지지난|지난|저번|이번|다음) ?(주말|(?:주|달)(?![가-힣](?<![에의는은도와과엔만부까])))|(재작년|작년|지난해|올해|내년)/gu;
const KOREAN_AGO =
  /(?<![월\d])(?:(\d{1,3}|한|두|세|네|다섯|여섯|일곱|여덟|아홉|열) ?(일|주일?|달|개월|년|해)|(하루|이틀|사흘|나흘|열흘)) ?전/gu;
const AMOUNT = String.raw`(\d{1,3}|half a|an?|(?:a )?couple(?: of)?|(?:a )?few|several|${NUMBER_WORD})`;
const AGO = new RegExp(
  String.raw`\b${AMOUNT} (day|weekend|week|fortnight|month|year)s? (ago|back|earlier|from (?:now|today|tomorrow))\b`,
  'giu',
);
/** "Twice in a week" is how often, and "in a day" how long. */
const AHEAD = new RegExp(
  String.raw`(?<!\b(?:once|twice|times) )\bin (?!an? day)${AMOUNT} (day|week|fortnight|month|year)s?\b`,
  'giu',
);
const GERMAN_DISTANCE = new RegExp(
  String.raw`\b(vor|in) (\d{1,3}|einem|einer|${GERMAN_ONES.slice(2).join('|')}) (Tag|Woche|Monat|Jahr)(?:e?n|e)?\b`,
  'giu',
);
const CHINESE_AGO =
  /(?<![月\d])(\d{1,3}|[一两兩二三四五六七八九十]) ?(天|日|[个個]?(?:星期|礼拜|禮拜)|周|週間?|[个個かカヶヵ]月|年)(?:以?前)/gu;

const GERMAN_UNITS: Readonly<Record<string, string>> = {
  tag: 'day',
  woche: 'week',
  wochenende: 'weekend',
  monat: 'month',
  jahr: 'year',
};
const GERMAN_STEPS: Readonly<Record<string, number>> = {
  vorletzte: -2,
  letzte: -1,
  vorige: -1,
  vergangene: -1,
  diese: 0,
  übernächste: 2,
};
const CHINESE_UNITS: Readonly<Record<string, string>> = {
  天: 'day',
  周: 'week',
  星期: 'week',
  礼拜: 'week',
  禮拜: 'week',
  周末: 'weekend',
  日: 'day',
  週: 'week',
  週末: 'weekend',
  月: 'month',
  年: 'year',
};
const YEARS: Readonly<Record<string, number>> = {
  一昨年: -2,
  前年: -2,
  去年: -1,
  昨年: -1,
  今年: 0,
  明年: 1,
  后年: 2,
  来年: 1,
  재작년: -2,
  작년: -1,
  지난해: -1,
  올해: 0,
  내년: 1,
};
const KOREAN_UNITS: Readonly<Record<string, string>> = {
  일: 'day',
  주: 'week',
  주일: 'week',
  주말: 'weekend',
  달: 'month',
  개월: 'month',
  년: 'year',
  해: 'year',
};
const KOREAN_STEPS: Readonly<Record<string, number>> = { 지지난: -2, 지난: -1, 저번: -1, 이번: 0, 다음: 1 };
const KOREAN_NUMBERS = '영 한 두 세 네 다섯 여섯 일곱 여덟 아홉 열'.split(' ');
const KOREAN_DAYS: Readonly<Record<string, number>> = { 하루: 1, 이틀: 2, 사흘: 3, 나흘: 4, 열흘: 10 };
const JAPANESE_STEPS: Readonly<Record<string, number>> = { 先々: -2, 先: -1, 今: 0, 来: 1, 再来: 2 };
const STEPPED_UNITS = [
  [JAPANESE_UNIT, CHINESE_UNITS, JAPANESE_STEPS],
  [KOREAN_UNIT, KOREAN_UNITS, KOREAN_STEPS],
] as const;
const CHINESE_NUMBERS = '零一二三四五六七八九十';
const NEAR_DAYS: Readonly<Record<string, number>> = {
  tomorrow: 1,
  明天: 1,
  明日: 1,
  明後日: 2,
  'day after tomorrow': 2,
  'the day after tomorrow': 2,
  übermorgen: 2,
  后天: 2,
  後天: 2,
  大后天: 3,
  大後天: 3,
  yesterday: -1,
  'last night': -1,
  gestern: -1,
  昨天: -1,
  昨晚: -1,
  昨日: -1,
  昨夜: -1,
  'day before yesterday': -2,
  'the day before yesterday': -2,
  vorgestern: -2,
  前天: -2,
  大前天: -3,
  一昨日: -2,
  내일: 1,
  모레: 2,
  어제: -1,
  어젯밤: -1,
  그저께: -2,
  그제: -2,
};

/** Years from now of "last year" and its like in Chinese, Japanese and Korean. */
export function stepsOfYear(word: string): number {
  return YEARS[word] ?? 0;
}

/** Terms of the days, months and years that a text names as seen from when it was written. */
export function relativeTermsOf(text: string, writtenAt: Date): string[] {
  const { terms, rest } = weekdaysIn(text, writtenAt);
  return [
    ...daysIn(rest, writtenAt),
    ...terms,
    ...unitsIn(rest, writtenAt),
    ...distancesIn(rest, writtenAt),
    ...seasonsIn(rest, writtenAt),
  ];
}

function daysIn(text: string, writtenAt: Date): string[] {
  const terms: string[] = [];
  for (const [word] of text.matchAll(NEAR_DAY)) {
    terms.push(...dayTerms(addDays(writtenAt, NEAR_DAYS[word.toLowerCase()] ?? 0)));
  }
  return terms;
}

function unitsIn(text: string, writtenAt: Date): string[] {
  const terms: string[] = [];
  const add = (unit: string, steps: number): void => {
    terms.push(...unitTerms(writtenAt, unit, steps));
  };
  for (const [, which = '', unit = ''] of text.matchAll(NEAR_UNIT)) {
    const steps = stepsOf(which.toLowerCase(), unit.toLowerCase(), writtenAt);
    if (steps !== null) add(unit.toLowerCase(), steps);
  }
  for (const [, unit = ''] of text.matchAll(BEFORE_LAST)) add(unit.toLowerCase(), -2);
  for (const [, which = '', unit = ''] of text.matchAll(GERMAN_UNIT)) {
    add(GERMAN_UNITS[unit.toLowerCase()] ?? 'week', GERMAN_STEPS[which.toLowerCase()] ?? 1);
  }
  for (const [, which = '', unit = '', year] of text.matchAll(CHINESE_UNIT)) {
    if (year !== undefined) add('year', YEARS[year] ?? 0);
    else add(CHINESE_UNITS[unit] ?? 'week', which.startsWith('上') ? -1 : which.startsWith('下') ? 1 : 0);
  }
  for (const [pattern, units, steps] of STEPPED_UNITS) {
    for (const [, which = '', unit = '', year] of text.matchAll(pattern)) {
      if (year === undefined) add(units[unit] ?? 'week', steps[which] ?? 0);
      else add('year', YEARS[year] ?? 0);
    }
  }
  return terms;
}

/** So many units before or after the time of writing. */
function distancesIn(text: string, writtenAt: Date): string[] {
  const terms: string[] = [];
  const add = (unit: string, steps: number): void => {
    terms.push(...unitTerms(writtenAt, unit, steps));
  };
  const addEnglish = (amount: string, written: string, direction: 1 | -1, from = writtenAt): void => {
    const unit = written.toLowerCase();
    if (/^half/iu.test(amount)) {
      add('month', unit === 'year' ? 6 * direction : 0);
      return;
    }
    for (const each of amountsOf(amount.toLowerCase())) terms.push(...unitTerms(from, unit, direction * each));
  };
  for (const [, amount = '', unit = '', where = ''] of text.matchAll(AGO)) {
    if (!/^from/iu.test(where)) addEnglish(amount, unit, -1);
    else addEnglish(amount, unit, 1, addDays(writtenAt, /tomorrow$/iu.test(where) ? 1 : 0));
  }
  for (const [, amount = '', unit = ''] of text.matchAll(AHEAD)) addEnglish(amount, unit, 1);
  for (const [, where = '', amount = '', unit = ''] of text.matchAll(GERMAN_DISTANCE)) {
    const named = GERMAN_ONES.indexOf(amount.toLowerCase());
    const count = named > 0 ? named : /^ein/iu.test(amount) ? 1 : Number(amount);
    add(GERMAN_UNITS[unit.toLowerCase()] ?? 'day', where.toLowerCase() === 'in' ? count : -count);
  }
  for (const [, amount = '', unit = ''] of text.matchAll(CHINESE_AGO)) {
    const named = CHINESE_NUMBERS.indexOf(amount.replace(/[两兩]/u, '二'));
    add(CHINESE_UNITS[unit.replace(/[个個かカヶヵ間]/u, '')] ?? 'day', -(named > 0 ? named : Number(amount)));
  }
  for (const [, amount = '', unit = '', days = ''] of text.matchAll(KOREAN_AGO)) {
    const named = KOREAN_NUMBERS.indexOf(amount);
    if (days === '') add(KOREAN_UNITS[unit] ?? 'day', -(named > 0 ? named : Number(amount)));
    else add('day', -(KOREAN_DAYS[days] ?? 0));
  }
  return terms;
}

/** `null`: "at the month" is no time. */
function stepsOf(which: string, unit: string, writtenAt: Date): number | null {
  switch (which) {
    case 'last':
    case 'past':
    case 'this past':
      return -1;
    case 'next':
      return 1;
    case 'this':
      return 0;
    default:
      // On a weekend that one is meant, before it the one before.
      return unit === 'weekend' ? ((writtenAt.getUTCDay() + 6) % 7 >= 5 ? 0 : -1) : null;
  }
}

function unitTerms(writtenAt: Date, unit: string, steps: number): string[] {
  switch (unit) {
    case 'day':
      return dayTerms(addDays(writtenAt, steps));
    case 'fortnight':
      return unitTerms(writtenAt, 'week', 2 * steps);
    case 'month':
      return monthTerms(writtenAt.getUTCFullYear(), writtenAt.getUTCMonth() + steps);
    case 'year':
      return [`@${writtenAt.getUTCFullYear() + steps}`];
    case 'weekend': {
      // A Sunday belongs to the weekend that it ends.
      const saturday = addDays(writtenAt, 5 - ((writtenAt.getUTCDay() + 6) % 7) + 7 * steps);
      return [...dayTerms(saturday), ...dayTerms(addDays(saturday, 1))];
    }
    default: {
      const monday = mondayOf(writtenAt, steps);
      return Array.from({ length: 7 }, (_, day) => dayTerms(addDays(monday, day))).flat();
    }
  }
}

/** Of "a few" each that may be meant. */
function amountsOf(words: string): readonly number[] {
  if (words.includes('couple')) return [2];
  if (words.includes('few')) return [2, 3, 4];
  if (words === 'several') return [3, 4, 5];
  if (words === 'a' || words === 'an') return [1];
  if (words === 'a hundred') return [100];
  const [first = '', second = ''] = words.split(/[ -]/u);
  const tens = TENS.indexOf(first);
  if (tens >= 0) return [10 * (tens + 2) + Math.max(0, ONES.indexOf(second))];
  const named = ONES.indexOf(words);
  return [named >= 0 ? named : Number(words)];
}
