import type { AskedFact } from '../job.ts';
import { deepFigure } from './deep-figure.ts';

const HEADERS = [
  { column: 'subject', header: 'Subject' },
  { column: 'date', header: 'Date' },
  { column: 'sender', header: 'From' },
] as const;

/**
 * What is asked of an e-mail: headers that stand on one line as they are meant, and a deep figure. The
 * agent reads the raw text, so nothing is asked of what is encoded there.
 * @param searched texts of all e-mails, from `searchedText`
 */
export function mailFacts(mail: string, searched: string): readonly AskedFact[] {
  const headers = mail.split(/\n\s*\n/u, 1)[0]?.split('\n') ?? [];
  const facts = HEADERS.flatMap(({ column, header }) => {
    const value = plainHeader(headers, header);
    const isFirst = value !== null && !mail.includes(`"${header}"`);
    return isFirst ? [{ column, words: `the value of "${header}"`, value }] : [];
  });
  const figure = deepFigure(mail, searched);
  if (figure === null) return facts;
  return [...facts, { column: 'figure', words: `the number after "${figure.anchor}"`, value: figure.value }];
}

/** A header that is neither folded nor encoded. */
function plainHeader(headers: readonly string[], name: string): string | null {
  const index = headers.findIndex((line) => line.startsWith(`${name}:`));
  const line = headers[index];
  if (line === undefined || /^\s/u.test(headers[index + 1] ?? '')) return null;
  const value = line.slice(name.length + 1).trim();
  return value === '' || value.length > 200 || /=\?|[|\\]|^["']/u.test(value) ? null : value;
}
