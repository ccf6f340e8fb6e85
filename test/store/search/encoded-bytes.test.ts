import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { withoutEncodedBytes } from '../../../src/store/search/encoded-bytes.ts';

const inLines = (encoded: string, width: number): string => encoded.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\n');
let drawn = 0;
/** The next of always the same bytes: of any that chance draws, one in some ten thousand looks like a path. */
const nextBytes = (count: number): Buffer => {
  drawn += 1;
  return createHash('shake256', { outputLength: count }).update(`bytes ${drawn}`).digest();
};
const nextId = (): string =>
  nextBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/u, '$1-$2-4$3-a$4-$5');
const base64 = (bytes: number): string => nextBytes(bytes).toString('base64');
/** Always the same bytes. */
const ofSeed = (index: number): Buffer => createHash('sha256').update(`${index}`).digest();
const several = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const PROSE =
  'It was said that the pumps would be set to twelve bar, and nobody asked who had ordered it or when it was to begin. '.repeat(
    5,
  );

const digest = (): string => nextBytes(32).toString('hex');
const bucketPath = (): string =>
  `bucket/tenants/${nextId()}/projects/${nextId()}/builds/${nextId()}/artifacts/${nextId()}/${digest()}`;
const layerPath = (): string => `/var/lib/docker/overlay2/${digest()}/diff/${digest()}/${digest()}`;

describe('withoutEncodedBytes', () => {
  it.each<[string, string]>([
    ['in one piece', base64(300)],
    ['in lines of 76', inLines(base64(570), 76)],
    ['in lines of 64', inLines(base64(576), 64)],
    ['in lines of 76, that end as in mail', inLines(base64(570), 76).replaceAll('\n', '\r\n')],
    ['for URLs', nextBytes(300).toString('base64url')],
    ['of a text', inLines(Buffer.from(PROSE.slice(0, 570)).toString('base64'), 76)],
    ['of a text in one piece', Buffer.from(PROSE).toString('base64')],
    ['in hexadecimal digits', nextBytes(300).toString('hex')],
  ])('has blanks for bytes %s', (_, part) => {
    const text = `before ${part}\n after`;
    const left = withoutEncodedBytes(text);
    expect(left).toHaveLength(text.length);
    expect(left.split(/\s+/u)).toEqual(['before', 'after']);
  });

  it('has blanks for nearly every line of many bytes, whatever they are', () => {
    const encoded = Buffer.concat(several(2_000).map(ofSeed)).toString('base64');
    const left = withoutEncodedBytes(inLines(encoded, 64)).split(/\s+/u);
    expect(left.length).toBeLessThan(encoded.length / 64 / 50);
  });

  it.each<[string, string]>([
    ['a digest', nextBytes(64).toString('hex')],
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

  it('tells a path of identifiers from bytes, whichever they are', () => {
    const kept: readonly (() => string)[] = [
      bucketPath,
      layerPath,
      () =>
        several(6)
          .map(() => nextId())
          .join('/'),
      () =>
        several(6)
          .map(() => nextId())
          .join('-'),
      () => several(4).map(digest).join('/'),
      () => `x/${several(4).map(digest).join('_').toUpperCase()}`,
      () =>
        `drive/folders/${several(8)
          .map(() => nextBytes(24).toString('base64url'))
          .join('/files/')}`,
    ];
    const gone: readonly (() => string)[] = several(9).flatMap((index) => [
      () => nextBytes(160 + 75 * index).toString('base64'),
      () => nextBytes(160 + 75 * index).toString('base64url'),
      () => nextBytes(110 + 50 * index).toString('hex'),
    ]);
    for (const _ of several(200)) {
      for (const path of kept.map((make) => make())) expect(withoutEncodedBytes(path)).toBe(path);
      for (const bytes of gone.map((make) => make())) expect(withoutEncodedBytes(bytes).trim()).toBe('');
    }
  });

  it('keeps the word that begins the line below the bytes', () => {
    const block = inLines(base64(228), 76);
    expect(withoutEncodedBytes(`${block}Invoices are due.`).trim()).toBe('Invoices are due.');
    expect(withoutEncodedBytes(`${block}Invoices\nare due.`).trim()).toBe('Invoices\nare due.');
    expect(withoutEncodedBytes(`${block}Zq7Rt4 is the code.`).trim()).toBe('Zq7Rt4 is the code.');
  });
});
