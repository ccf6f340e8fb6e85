import { headOf, tailOf } from '../plan/clip.ts';
import type { Calibration, PartPiece } from '../plan/plan.ts';
import { attachedFile, isMedia } from '../log/content.ts';
import type { ContentPart } from '../log/content.ts';
import type { Entry } from '../log/entry.ts';
import { calibratedTokens } from '../log/estimate.ts';
import { measureText } from '../log/measure.ts';
import { withoutEncodedData } from '../log/readable-text.ts';
import { frame, framed, quoteText, tagsOf } from '../log/frames.ts';
import type { Framed, FrameName } from '../log/frames.ts';
import { describeMedia, formatCount } from '../view/notes.ts';
import type { TranscriptLimits } from '../policy/policy.ts';

/** An entry at the very beginning may keep this share of what one at the end may keep. */
const OLDEST_SHARE = 0.25;

/** An entry of a transcript whose length is limited keeps this much, or is left out with its frame. Characters. */
const LEAST_SHOWN = 100;

interface Block {
  readonly of: 'user' | 'assistant' | 'toolResult' | 'toolInput' | 'other';
  readonly frame: FrameName;
  readonly attributes: Readonly<Record<string, string>>;
  /** Quoted, for its size counts. */
  readonly text: string;
}

/**
 * The originals as a summarizing model reads them: every entry in a frame of its own, tool outputs
 * and messages as quoted data, media as one line. When it is more than `maximumTokens`, long texts
 * lose their middle, the older the more (D7); nothing is left out without a mark.
 */
export function transcriptText(input: {
  readonly entries: readonly Entry[];
  readonly maximumTokens: number;
  readonly calibration: Calibration;
  readonly limits: TranscriptLimits;
  readonly piece?: PartPiece;
}): Framed {
  const { limits: kinds } = input;
  const read = piecesOf(input.entries.flatMap(entryBlocks), input);
  const whole = read.map((block) => withinKind(block, kinds));
  const { blocks, leftOut } = withinTotal(whole, kinds);
  const tokens = blocks.map((block) => calibratedTokens(measureText(block.text), input.calibration));
  const frames = blocks.map((block) => calibratedTokens(measureText(tagsAround(block)), input.calibration) + 1);
  const limits = blockLimits(tokens, input.maximumTokens - frames.reduce((sum, frame) => sum + frame, 0));
  const rendered = blocks.map((block, index) =>
    renderBlock(block, { tokens: tokens[index] ?? 0, limit: limits[index] ?? 0, headShare: kinds.headShare }),
  );
  return framed([...(leftOut === 0 ? [] : [leftOutMark(leftOut)]), ...rendered].join('\n'));
}

function piecesOf(
  blocks: readonly Block[],
  { piece, calibration }: { readonly piece?: PartPiece; readonly calibration: Calibration },
): readonly Block[] {
  if (piece === undefined) return blocks;
  const texts = pieceOfTexts(
    blocks.map((block) => block.text),
    piece,
    calibration,
  );
  return blocks.flatMap((block, index) => {
    const text = texts[index] ?? '';
    const attributes = { ...block.attributes, piece: `${piece.number} of ${piece.of}` };
    return text === '' ? [] : [{ ...block, attributes, text }];
  });
}

function entryBlocks(entry: Entry): Block[] {
  switch (entry.kind) {
    case 'user':
      return userBlocks(entry);
    case 'assistant':
      return assistantBlocks(entry);
    case 'tool_result':
      return [
        block('toolResult', 'toolResult', contentText(entry.content), {
          name: entry.toolName ?? '',
          ...(entry.isError === true && { failed: 'true' }),
        }),
      ];
    case 'branch_summary':
      return [block('other', 'otherSummary', contentText(entry.content), { of: 'another branch' })];
    case 'note':
      return entry.slot === 'plan' ? [block('other', 'note', contentText(entry.content), { of: 'plan' })] : [];
    case 'compaction':
      return [];
  }
}

function userBlocks({ content }: Entry): Block[] {
  const files = content.flatMap((part) => attachedFile(part) ?? []);
  const said = content.filter((part) => attachedFile(part) === null);
  return [
    ...(said.length > 0 ? [block('user', 'user', contentText(said))] : []),
    ...files.map(({ name, text }) => block('user', 'attachedFile', text, { name })),
  ];
}

function assistantBlocks(entry: Entry): Block[] {
  const spoken = entry.content.filter((part) => part.type === 'text' && part.text.trim() !== '');
  const calls = entry.content.flatMap((part) =>
    part.type === 'tool_call' ? [block('toolInput', 'toolCall', part.arguments, { name: part.name })] : [],
  );
  return [...(spoken.length > 0 ? [block('assistant', 'assistant', contentText(spoken))] : []), ...calls];
}

function block(of: Block['of'], frame: FrameName, text: string, attributes: Block['attributes'] = {}): Block {
  return { of, frame, attributes, text: quoteText(withoutEncodedData(text)) };
}

function contentText(content: readonly ContentPart[]): string {
  return content
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return isMedia(part) ? [`[${describeMedia(part)} not shown]`] : [];
    })
    .join('\n');
}

/** How many tokens each block may take: one level for all, rising from the oldest to the newest. */
function blockLimits(tokens: readonly number[], allowed: number): number[] {
  const total = tokens.reduce((sum, size) => sum + size, 0);
  if (total <= allowed) return [...tokens];
  const weight = (index: number): number =>
    tokens.length === 1 ? 1 : OLDEST_SHARE + ((1 - OLDEST_SHARE) * index) / (tokens.length - 1);
  let low = 0;
  let high = Math.max(0, allowed) / OLDEST_SHARE;
  for (let round = 0; round < 40; round += 1) {
    const level = (low + high) / 2;
    const sum = tokens.reduce((all, size, index) => all + Math.min(size, level * weight(index)), 0);
    if (sum > allowed) high = level;
    else low = level;
  }
  return tokens.map((size, index) => Math.min(size, low * weight(index)));
}

function renderBlock(
  { frame: name, attributes, text }: Block,
  size: { readonly tokens: number; readonly limit: number; readonly headShare: number },
): Framed {
  const isWhole = size.tokens <= size.limit;
  const shown = isWhole ? text : shorten(text, (text.length * size.limit) / size.tokens, size.headShare);
  return frame(name, shown, attributes);
}

function tagsAround({ frame: name, attributes }: Block): string {
  const { open, close } = tagsOf(name, attributes);
  return open + close;
}

function withinKind(block: Block, limits: TranscriptLimits): Block {
  const limit = block.of === 'other' ? null : limits[block.of];
  return limit === null ? block : { ...block, text: shorten(block.text, limit, limits.headShare) };
}

/**
 * Blocks and their frames within the limit of the whole transcript, the newest kept longest (D7). Of very many, the oldest are
 * left out behind one mark: frames without text would say nothing.
 */
function withinTotal(
  blocks: readonly Block[],
  { total, headShare }: TranscriptLimits,
): { readonly blocks: readonly Block[]; readonly leftOut: number } {
  if (total === null) return { blocks, leftOut: 0 };
  const leastOf = (block: Block): number => tagsAround(block).length + 3 + Math.min(block.text.length, LEAST_SHOWN);
  let free = total - leftOutMark(blocks.length).length;
  let leftOut = blocks.length;
  for (; leftOut > 0; leftOut -= 1) {
    const block = blocks[leftOut - 1];
    if (block === undefined || leastOf(block) > free) break;
    free -= leastOf(block);
  }
  const shown = blocks.slice(leftOut);
  const more = blockLimits(
    shown.map(({ text }) => Math.max(0, text.length - LEAST_SHOWN)),
    free,
  );
  const limitAt = (index: number): number => LEAST_SHOWN + Math.floor(more[index] ?? 0);
  const shortened = shown.map((block, index): Block => {
    return Object.assign({}, block, { text: shorten(block.text, limitAt(index), headShare) });
  });
  return { blocks: shortened, leftOut };
}

function leftOutMark(blocks: number): string {
  return `[… ${formatCount(blocks)} older entries left out …]`;
}

/** At most `characters` of a text, with a mark where its middle was. */
export function shorten(text: string, characters: number, headShare: number): string {
  if (text.length <= characters) return text;
  const label = (omitted: number): string => `\n[… ${formatCount(omitted)} characters left out …]\n`;
  const kept = Math.floor(characters) - label(text.length).length;
  if (kept <= 0) return `[${formatCount(text.length)} characters left out]`;
  const head = Math.ceil(kept * headShare);
  return headOf(text, head) + label(text.length - kept) + tailOf(text, kept - head);
}

/** A border between two pieces falls at a multiple of this. Characters. */
const CHUNK = 1_000;

/**
 * Takes one piece out of each text: the pieces of all numbers together are the texts, nothing twice. Borders are
 * set by tokens, not by characters, so that no piece is much larger than its share where a text is half prose, half base64.
 */
export function pieceOfTexts(texts: readonly string[], piece: PartPiece, calibration: Calibration): string[] {
  const chunks = texts.map(chunksOf);
  const sizes = chunks.map((of) => of.map((text) => calibratedTokens(measureText(text), calibration)));
  const total = sizes.flat().reduce((sum, size) => sum + size, 0);
  let before = 0;
  return chunks.map((of, text) =>
    of
      .filter((_, chunk) => {
        const size = sizes[text]?.[chunk] ?? 0;
        const middle = before + size / 2;
        before += size;
        return Math.min(piece.of, Math.floor((middle / Math.max(1, total)) * piece.of) + 1) === piece.number;
      })
      .join(''),
  );
}

function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + CHUNK);
    const last = text.charCodeAt(to - 1);
    // A surrogate pair stays whole.
    if (last >= 0xd800 && last < 0xdc00) to += 1;
    chunks.push(text.slice(from, to));
    from = to;
  }
  return chunks;
}
