import { setImmediate } from 'node:timers/promises';

/** A text without secrets that are known by their form. */
export interface RedactedText {
  readonly text: string;
  /** Places that were replaced. */
  readonly count: number;
  /** What stood there. Never stored or shown. */
  readonly removed: readonly string[];
}

/**
 * Forms that the rule set does not have, or wants longer than they are. Each begins with letters of its own, so that
 * a text without them is passed over at the speed of a search; no pattern can go back more than its fixed lengths.
 */
const FURTHER_FORMS: readonly (readonly [name: string, form: RegExp])[] = [
  [
    'private key',
    /-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!-)){0,16000}-----END [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----/g,
  ],
  ['aws', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  // One of thirty-two ends in `+` or `/`, after which `\b` is not where the key ends.
  [
    'aws',
    /\b\w{0,32}secret\w{0,16}key['"]?[ \t]{0,16}(?:=>?|:)[ \t]{0,16}['"]?[A-Za-z0-9/+=]{40}(?:\b|(?![A-Za-z0-9]))/gi,
  ],
  ['google', /\bAIza[A-Za-z0-9_-]{35}/g],
  ['github', /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/g],
  ['gitlab', /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{20,255}/g],
  ['model key', /\bsk-(?:proj-|svcacct-|admin-|ant-|or-)?[A-Za-z0-9_-]{20,255}/g],
  ['model key', /\b(?:gsk_|xai-|hf_|r8_|pplx-|fw_|csk-|nvapi-|tgp_v1_)[A-Za-z0-9_-]{24,255}/g],
  ['stripe', /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/g],
  ['slack', /\bxox[abeoprs]-[A-Za-z0-9-]{16,255}/g],
  ['jwt', /(?<![\w-])eyJ[A-Za-z0-9_-]{16,4096}\.eyJ[A-Za-z0-9_-]{16,8192}\.[A-Za-z0-9_-]{16,2048}/g],
];

/** Loaded with the first text: most commands and many workers never redact one. */
async function lint(text: string): ReturnType<typeof import('@secretlint/core').lintSource> {
  const [{ lintSource }, { creator: rule }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  return lintSource({
    source: { content: text, filePath: 'text.txt', ext: '.txt', contentType: 'text' },
    options: { config: { rules: [{ id: 'preset', rule, options: {} }] }, noPhysicFilePath: true },
  });
}

/**
 * Replaces secrets of well-known forms (secretlint's recommended rules, and a few more) by a line that names the kind.
 * A match never fails anything. Takes some 20 milliseconds for a million characters.
 */
export async function redactSecrets(text: string): Promise<RedactedText> {
  const { messages } = await lint(text);
  const found = [
    ...messages.map(({ range: [from, to], ruleId }) => ({ from, to, name: ruleName(ruleId) })),
    ...FURTHER_FORMS.flatMap(([name, form]) =>
      [...text.matchAll(form)].map(({ index, 0: whole }) => ({ from: index, to: index + whole.length, name })),
    ),
  ].sort((a, b) => a.from - b.from || b.to - a.to);
  const pieces: string[] = [];
  const removed: string[] = [];
  let done = 0;
  for (const { from, to: end, name } of found) {
    const to = wholeWordEnd(text, end);
    // Part of what was replaced already; what sticks out behind it goes too.
    if (from >= done) {
      pieces.push(text.slice(done, from), `[redacted: ${name}]`);
      removed.push(text.slice(from, to));
    }
    done = Math.max(done, to);
  }
  const count = removed.length;
  return { text: count === 0 ? text : pieces.join('') + text.slice(done), count, removed };
}

/** Stands between texts that are redacted together; no secret has it inside. */
const BORDER = '\n\0\u0001\0\n';
/** Together at most, unless one is longer, in characters: some 5 milliseconds, after which the event loop goes on. */
const BATCH = 250_000;

/** The same of many texts, each by itself. Of small ones, a hundred together take as long as a few. */
export async function redactTexts(
  texts: readonly string[],
): Promise<{ readonly texts: readonly string[]; readonly count: number }> {
  const redacted: string[] = [];
  let count = 0;
  for (const batch of batchesOf(texts)) {
    const together = await redactSecrets(batch.join(BORDER));
    let pieces = together.text.split(BORDER);
    // A secret that reaches over a border, or a text that holds one.
    if (pieces.length === batch.length) count += together.count;
    else {
      const alone = await Promise.all(batch.map(redactSecrets));
      pieces = alone.map(({ text }) => text);
      count += alone.reduce((sum, each) => sum + each.count, 0);
    }
    for (const piece of pieces) redacted.push(piece);
    // A worker serves hundreds of turns with one thread, and a window of a million tokens has four million characters.
    await setImmediate();
  }
  return { texts: redacted, count };
}

function batchesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const batches: string[][] = [];
  let size = Infinity;
  for (const text of texts) {
    if (size + text.length > BATCH) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1)?.push(text);
    size += text.length;
  }
  return batches;
}

/** Some rules count the length of the secret from the beginning of its name, and so end in the middle of it. */
function wholeWordEnd(text: string, end: number): number {
  REST_OF_WORD.lastIndex = end;
  return end + (REST_OF_WORD.exec(text)?.[0].length ?? 0);
}

const REST_OF_WORD = /[A-Za-z0-9/+=_-]{0,1024}/y;

/** `@secretlint/secretlint-rule-aws` → `aws`. */
function ruleName(ruleId: string): string {
  return ruleId.replace(/^.*secretlint-rule-/, '').replaceAll('-', ' ');
}
