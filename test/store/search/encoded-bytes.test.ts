import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { withoutEncodedBytes } from '../../../src/store/search/encoded-bytes.ts';

const inLines = (encoded: string, width: number): string => encoded.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\n');
const base64 = (bytes: number): string => randomBytes(bytes).toString('base64');
/** Always the same bytes. */
const ofSeed = (index: number): Buffer => createHash('sha256').update(`${index}`).digest();
const several = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const PROSE =
  'It was said that the pumps would be set to twelve bar, and nobody asked who had ordered it or when it was to begin. '.repeat(
    5,
  );

describe('withoutEncodedBytes', () => {
  it.each<[string, string]>([
    ['in one piece', base64(300)],
    ['in lines of 76', `${inLines(base64(600), 76)}\n`],
    ['in lines of 64', `${inLines(base64(600), 64)}\n`],
    ['in lines of 76, that end as in mail', inLines(base64(500), 76).replaceAll('\n', '\r\n')],
    ['in lines, with a last one of a few letters', inLines(base64(229), 76)],
    ['for URLs', randomBytes(300).toString('base64url')],
    ['of a text', inLines(Buffer.from(PROSE).toString('base64'), 76)],
    ['of a text in one piece', Buffer.from(PROSE).toString('base64')],
    ['in hexadecimal digits', randomBytes(300).toString('hex')],
  ])('has blanks for bytes %s', (_, part) => {
    const text = `before ${part}\n after`;
    const left = withoutEncodedBytes(text);
    expect(left).toHaveLength(text.length);
    expect(left.split(/\s+/u)).toEqual(['before', 'after']);
  });

  it('has blanks for every line of many bytes, whatever they are', () => {
    const encoded = Buffer.concat(several(2_000).map(ofSeed)).toString('base64');
    expect(withoutEncodedBytes(inLines(encoded, 64)).trim()).toBe('');
  });

  it.each<[string, string]>([
    ['a digest', randomBytes(64).toString('hex')],
    ['two lines of text', `${'word '.repeat(20)}\n${'word '.repeat(20)}`],
    [
      'digests, one a line',
      several(20)
        .map((index) => `${ofSeed(index).toString('hex')}\n`)
        .join(''),
    ],
    [
      'digests in capitals',
      several(20)
        .map((index) => `${ofSeed(index).toString('hex').toUpperCase()}\n`)
        .join(''),
    ],
    [
      'directories, one a line',
      several(5)
        .map((index) => `src/main/java/com/acme/platform/billing/invoicing/domain/version${index}\n`)
        .join(''),
    ],
    [
      'directories with capitals and numbers',
      several(5)
        .map((index) => `src/main/java/com/Acme/PlatformServices/BillingV2/InvoicingDomain/Rule${index}\n`)
        .join(''),
    ],
    [
      'names of tests',
      several(5)
        .map((index) => `TestThatTheInvoiceOfTheCustomerIsSentAgainAfterTheRefund${index}Days\n`)
        .join(''),
    ],
    ['a long path', 'src/main/java/com/acme/platform/billing/invoicing/'.repeat(5)],
    ['a long name', 'the-invoice-of-the-customer-is-sent-again-after-the-refund-'.repeat(5)],
  ])('keeps %s', (_, part) => {
    const text = `before ${part} after`;
    expect(withoutEncodedBytes(text)).toBe(text);
  });

  it('keeps the word that begins the line below the bytes', () => {
    const block = inLines(base64(228), 76);
    expect(withoutEncodedBytes(`${block}Invoices are due.`).trim()).toBe('Invoices are due.');
    expect(withoutEncodedBytes(`${block}Invoices\nare due.`).trim()).toBe('Invoices\nare due.');
    expect(withoutEncodedBytes(`${block}Zq7Rt4 is the code.`).trim()).toBe('Zq7Rt4 is the code.');
  });
});
