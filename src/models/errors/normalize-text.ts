/** Of a long text (a page, a stack) beginning and end are read: the rest explains nothing. Characters. */
const HEAD_READ = 3_000;
const TAIL_READ = 1_000;

/** 128,000 · 128.000 · 128 000 · 128'000 · 128_000, the same separator each time; not a version nor a decimal. */
const GROUPED = /(?<![\w.,'-])\d{1,3}(?:([ ,.'_])\d{3}(?:\1\d{3})*|(?:,\d\d)+,\d{3})(?!\d|[.,'_]\d)/g;
/** 128k, 1.2M, 140 Ki, 12.8万, 128 thousand; not the 32k of `gpt-4-32k`. */
const SCALED =
  /(?<![a-z0-9_./-])(\d+(?:[.,]\d+)?) ?(k|ki|m|thousand|tsd\.?|mille?|тыс\.?|tys\.?|万|million)(?:(?![\p{L}\d])|(?=tok))/gu;
const SCALES: Readonly<Record<string, number>> = { ki: 1_024, 万: 1e4, m: 1e6, million: 1e6 };

/** As much of a text as the rules read. */
export function readPart(text: string): string {
  return text.length <= HEAD_READ + TAIL_READ ? text : `${text.slice(0, HEAD_READ)} … ${text.slice(-TAIL_READ)}`;
}

/** Text as the rules read it: lower case, one kind of space and quote, no markup and no addresses, numbers as bare digits. */
export function normalizeText(text: string): string {
  return withoutMarkup(text)
    .replaceAll(/https?:\/\/[^\s"'<>)\]]+/gi, ' ')
    .normalize('NFKC')
    .replaceAll(/[\u2018\u2019\u201B\u02BC]/g, "'")
    .replaceAll(/[\u201C\u201D\u201E«»「」『』]/g, '"')
    .replaceAll(/[`*]|\\[nrt]/g, ' ')
    .replaceAll(/(?<=[a-z\d])(?=[A-Z][a-z])/g, ' ')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(GROUPED, (digits) => digits.replaceAll(/\D/g, ''))
    .replaceAll(SCALED, (_, digits: string, unit: string) =>
      String(Math.round(Number(digits.replace(',', '.')) * (SCALES[unit] ?? 1e3))),
    )
    .trim();
}

/** The words of a page, for a person. */
export function withoutMarkup(page: string): string {
  return readPart(page)
    .replaceAll(/<(?:script|style)\b[^]*?<\/(?:script|style)>/gi, ' ')
    .replaceAll(/<[/?]?[a-z!][^<>]{0,500}>/gi, ' ')
    .replaceAll(/&(?:#\d{1,6}|[a-z\d]{2,7});/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
