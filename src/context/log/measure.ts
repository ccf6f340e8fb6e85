import { NO_CALIBRATION, estimateTokens } from './estimate.ts';
import type { Calibration } from '../plan/plan.ts';
import { isReadAsText } from './content.ts';
import type { ContentPart, FilePart, ImagePart, ThinkingPart } from './content.ts';
import { NO_MEASUREMENTS } from './measurements.ts';
import type { Measurements } from './measurements.ts';

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Classes of UTF-16 code units; lower, upper and digit can form dense runs, the joiners inside them do not end one. */
const SPACE = 0;
const WHITESPACE = 1;
const LOWER = 2;
const UPPER = 3;
const DIGIT = 4;
const JOINER = 5;
const SYMBOL = 6;
/** Halves of emoji for the most part. */
const SURROGATE = 7;
const LETTER = 8;
const IDEOGRAPH = 9;
const RARE_IDEOGRAPH = 10;

/**
 * Characters of traditional Chinese that neither simplified Chinese nor Japanese writes. Tokenizers learned few words of
 * them: a text takes 0.92 tokens a character in o200k where a simplified one takes 0.72, and these characters are how the
 * two can be told apart. The most frequent ones; each counts as two ideographs.
 */
const TRADITIONAL =
  '這個們來說為會對過與還點從學國發關當經處實應聽讓將樣變單簽臺辦於麼沒裡嗎讀寫數據區號專圖體氣萬歲歷總樂價幾廣聲賣觀證' +
  '譯釋醫錢鐵顯屬續繼縣爭靜齊擔擇擴搖攝斷條檢權歐歡殘淺滿澤濟灣狀獨獻畫盡碼禮稱穩竊粹絕綠縱聯肅膽臟舊莊蟲裝覺覽觸譽豐賴' +
  '輕轉遲邊鄉鄰錄隨隱雙雜靈驗驛鬥黨齒龍龜壓圍團壞壯奧妳寶屆峽帶廳彈徑德恆惡惱慘戀戰戲兩並亂傳佔僅兒內剛勞勵參吳啟嚴強懷' +
  '戶拋敘晝曉榮橫歸汙淚淨溫潛濕燈燒獎瓊產瘋眾祕稅窮緣纖羣脫藝藥蘭虛讚賓邏郵銳鑰險雞髮鬆麥';

/** First and last code units of what is no letter; `SINGLE` counts before them. */
const RANGES: readonly (readonly [kind: number, ...ranges: (readonly [first: number, last: number])[]])[] = [
  [SYMBOL, [0, 0xbf], [0x2000, 0x2e7f], [0xd7b0, 0xd7ff]],
  [SURROGATE, [0xd800, 0xdfff]],
  // Hangul Jamo; CJK, kana, Hangul compatibility, Yi; Hangul; compatibility forms; full-width forms.
  [IDEOGRAPH, [0x1100, 0x11ff], [0x2e80, 0xa4cf], [0xac00, 0xd7af], [0xf900, 0xfaff], [0xff00, 0xffff]],
];
const SINGLE: readonly (readonly [kind: number, characters: string])[] = [
  [SPACE, ' '],
  [WHITESPACE, '\t\n\v\f\r\u00a0\u2028\u2029'],
  [LOWER, 'abcdefghijklmnopqrstuvwxyz'],
  [UPPER, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
  [DIGIT, '0123456789'],
  [JOINER, '+/=_-'],
  [RARE_IDEOGRAPH, TRADITIONAL],
];

/** The class of each code unit. */
const CLASSES = new Uint8Array(65_536).fill(LETTER);
for (const [kind, ...ranges] of RANGES) for (const [first, last] of ranges) CLASSES.fill(kind, first, last + 1);
for (const [kind, characters] of SINGLE) for (const each of characters) CLASSES[each.charCodeAt(0)] = kind;

/**
 * A run of letters, digits and `+ / = _ -` counts as dense when it is at least this long and
 * changes between lower case, upper case and digits this often. Random base64 changes at 42 % of
 * its characters and hex at 47 %, `aCamelCaseIdentifier` at 15 %.
 */
const DENSE_RUN_MINIMUM = 16;
const DENSE_RUN_CHANGES = 0.25;

/** Pixels. */
export const PATCH_EDGE = 28;
/** Tokens that a vendor charges for one image at most (facts of Claude's 5.5 generation: about 3,900). */
const IMAGE_PATCHES_MAXIMUM = 4_000;
/** For an image whose size nobody could read: the cap of Claude's 4.5 generation. */
const IMAGE_PATCHES_UNKNOWN = 1_600;

class RunCounter {
  length = 0;
  changes = 0;
  letters = 0;
  private previous = -1;

  /** @param merges whether the character is a joiner that follows punctuation */
  add(kind: number, merges: boolean): void {
    this.length += 1;
    if (merges) this.letters += 1;
    if (kind === JOINER) return;
    if (kind !== DIGIT) this.letters += 1;
    const previous = this.previous;
    // Only lower to upper, so that a capitalized word of an identifier counts once.
    const isChange =
      (previous === LOWER && kind === UPPER) || (previous !== -1 && (previous === DIGIT) !== (kind === DIGIT));
    if (isChange) this.changes += 1;
    this.previous = kind;
  }

  /** Books the run and starts a new one. */
  flushInto(counts: Mutable<Measurements>): void {
    if (this.length === 0) return;
    if (this.length >= DENSE_RUN_MINIMUM && this.changes >= this.length * DENSE_RUN_CHANGES) {
      counts.dense += this.length;
    } else {
      counts.letters += this.letters;
      counts.symbols += this.length - this.letters;
    }
    this.length = 0;
    this.changes = 0;
    this.letters = 0;
    this.previous = -1;
  }
}

function flushWhitespace(length: number, onlySpaces: boolean, counts: Mutable<Measurements>): void {
  if (length === 1 && onlySpaces) counts.spaces += 1;
  else counts.whitespaceRuns += length;
}

/**
 * Punctuation that follows punctuation (`","`, `});`, `=====`) shares its token, so it counts as letters do;
 * the halves of an emoji do not.
 */
function countText(text: string, counts: Mutable<Measurements>): void {
  counts.bytes += Buffer.byteLength(text);
  const run = new RunCounter();
  let [whitespace, onlySpaces, punctuated] = [0, true, false];
  for (let index = 0; index < text.length; index += 1) {
    const kind = CLASSES[text.charCodeAt(index)] ?? SYMBOL;
    if (kind <= WHITESPACE) {
      run.flushInto(counts);
      whitespace += 1;
      onlySpaces &&= kind === SPACE;
      punctuated = false;
      continue;
    }
    flushWhitespace(whitespace, onlySpaces, counts);
    [whitespace, onlySpaces] = [0, true];
    if (kind <= JOINER) {
      run.add(kind, punctuated && kind === JOINER);
      punctuated = kind === JOINER;
      continue;
    }
    run.flushInto(counts);
    if (kind >= IDEOGRAPH) counts.ideographs += kind === RARE_IDEOGRAPH ? 2 : 1;
    else if (kind === LETTER || (punctuated && kind === SYMBOL)) counts.letters += 1;
    else counts.symbols += 1;
    punctuated = kind === SYMBOL || kind === SURROGATE;
  }
  run.flushInto(counts);
  flushWhitespace(whitespace, onlySpaces, counts);
}

/** Tokens of an image as vendors charge for it, as far as its size is known. */
export function imagePatches({ width, height, mostPatches = IMAGE_PATCHES_MAXIMUM }: ImagePart): number {
  const patches = Math.ceil(width / PATCH_EDGE) * Math.ceil(height / PATCH_EDGE);
  return Math.min(patches > 0 ? patches : IMAGE_PATCHES_UNKNOWN, mostPatches);
}

function countImage(image: ImagePart, counts: Mutable<Measurements>): void {
  counts.images += 1;
  counts.imagePatches += imagePatches(image);
  counts.bytes += base64Bytes(image.data);
}

function countFile(file: FilePart, counts: Mutable<Measurements>): void {
  const bytes = base64Bytes(file.data);
  counts.bytes += bytes;
  // What is no PDF reaches the model as its text, whatever pages it is said to have.
  if (file.pages === 0 || isReadAsText(file.mediaType)) counts.letters += bytes;
  else counts.documentPages += file.pages;
}

function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** Counts a text in one pass; `frames` stays 0. A megabyte takes about 10 ms. */
export function measureText(text: string): Measurements {
  const counts: Mutable<Measurements> = { ...NO_MEASUREMENTS };
  countText(text, counts);
  return counts;
}

/** Tokens that a text takes in a request, rounded up. */
export function textTokens(text: string, calibration: Calibration = NO_CALIBRATION): number {
  return estimateTokens(measureText(text), calibration);
}

/**
 * Characters of reasoning that is passed on without being shown: encrypted, or in the signature of an
 * empty text. Counted as letters: six characters of base64 hold about one token of text.
 */
function hiddenReasoning({ text, encrypted, signature }: ThinkingPart): number {
  return (encrypted ?? (text === '' ? (signature ?? '') : '')).length;
}

/**
 * Counts the content of one entry: its text, its media, and as `frames` one for the entry and one
 * per tool call. Call ids are part of the frame, and vendors do not charge for the signature of a text.
 */
export function measureContent(parts: readonly ContentPart[]): Measurements {
  const counts: Mutable<Measurements> = { ...NO_MEASUREMENTS, frames: 1 };
  for (const part of parts) {
    switch (part.type) {
      case 'text':
        countText(part.text, counts);
        break;
      case 'thinking':
        countText(part.text, counts);
        counts.letters += hiddenReasoning(part);
        counts.bytes += hiddenReasoning(part);
        break;
      case 'image':
        countImage(part, counts);
        break;
      case 'file':
        countFile(part, counts);
        break;
      case 'tool_call':
        counts.frames += 1;
        countText(part.name, counts);
        countText(part.arguments, counts);
        break;
    }
  }
  return counts;
}
