import { dateTermsOf } from './dates.ts';

/** Whether a text, written at a time, has what a question asks for. */
export type ExpectedAnswer = (text: string, writtenAt: Date) => boolean;

const ASKS_WHEN =
  /\bwhen\b|\bhow (?:long ago|recently)\b|\b(?:what|which) (?:date|day|weekend|week|month|season|year|time)\b|\bwann\b|什么时候|哪[天年]|几[月号]/iu;
const ASKS_NUMBER = /\bhow (?:long|many|much|old|often|far|tall|big)\b|\bwhat (?:number|age|amount)\b/iu;
const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|once|twice|couple|half|few|several|years|months|weeks)\b/iu;

/** A question for a time wants a text that names one, a question for a number a text with a number; `null`: it asks for neither. English, "wann" and its Chinese like. */
export function expectedAnswerOf(query: string): ExpectedAnswer | null {
  if (ASKS_WHEN.test(query)) return (text, writtenAt) => dateTermsOf(text, writtenAt).length > 0;
  return ASKS_NUMBER.test(query) ? (text) => NUMBER.test(text) : null;
}
