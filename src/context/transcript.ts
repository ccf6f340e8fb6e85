import { headOf, tailOf } from './clip.ts';
import type { ContentPart } from './content.ts';
import type { Entry } from './entry.ts';
import { calibratedTokens } from './estimate.ts';
import { measureText } from './measure.ts';
import { describeMedia, formatCount } from './placeholders.ts';
import { pieceOfTexts } from './pieces.ts';
import type { Calibration, PartPiece } from './plan.ts';
import type { TranscriptLimits } from './policy.ts';

/** Tags that a transcript is made of; in quoted text they are broken, so that no content can close its frame (R29). */
const FRAME_TAG =
  /<(\/?)(transcript|previous_summary|part|user|assistant|note|tool_call|tool_result|summary)(?=[\s>/])/gi;

/** An entry at the very beginning may keep this share of what one at the end may keep. */
const OLDEST_SHARE = 0.25;

/** An entry of a transcript whose length is limited keeps this much, or is left out with its frame. Characters. */
const LEAST_SHOWN = 100;

interface Block {
  readonly of: 'user' | 'assistant' | 'toolResult' | 'toolInput' | 'other';
  readonly open: string;
  readonly text: string;
  readonly close: string;
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
  /** Shows only this piece of the entry. */
  readonly piece?: PartPiece;
}): string {
  const { limits: kinds } = input;
  const read = piecesOf(input.entries.flatMap(entryBlocks), input);
  const whole = read.map((block) => withinKind(block, kinds));
  const { blocks, leftOut } = withinTotal(whole, kinds);
  const tokens = blocks.map((block) => calibratedTokens(measureText(block.text), input.calibration));
  const frames = blocks.map((block) => calibratedTokens(measureText(block.open + block.close), input.calibration) + 1);
  const limits = blockLimits(tokens, input.maximumTokens - frames.reduce((sum, frame) => sum + frame, 0));
  const rendered = blocks.map((block, index) =>
    renderBlock(block, { tokens: tokens[index] ?? 0, limit: limits[index] ?? 0, headShare: kinds.headShare }),
  );
  return [...(leftOut === 0 ? [] : [leftOutMark(leftOut)]), ...rendered].join('\n');
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
    const open = block.open.replace(/>$/u, ` piece="${piece.number} of ${piece.of}">`);
    return text === '' ? [] : [{ ...block, open, text }];
  });
}

/** Makes tags of the transcript's own frame harmless inside quoted text. */
export function quoteText(text: string): string {
  return text.replace(FRAME_TAG, '<$1 $2');
}

function entryBlocks(entry: Entry): Block[] {
  switch (entry.kind) {
    case 'user':
      return [block('user', 'user', '', entry.content)];
    case 'assistant':
      return assistantBlocks(entry);
    case 'tool_result':
      return [
        block(
          'toolResult',
          'tool_result',
          ` name="${entry.toolName ?? ''}"${entry.isError === true ? ' failed="true"' : ''}`,
          entry.content,
        ),
      ];
    case 'branch_summary':
      return [block('other', 'summary', ' of="another branch"', entry.content)];
    case 'note':
      return entry.slot === 'plan' ? [block('other', 'note', ' of="plan"', entry.content)] : [];
    case 'compaction':
      return [];
  }
}

function assistantBlocks(entry: Entry): Block[] {
  const spoken = entry.content.filter((part) => part.type === 'text' && part.text.trim() !== '');
  const calls = entry.content.flatMap((part): Block[] =>
    part.type === 'tool_call'
      ? [
          {
            of: 'toolInput',
            open: `<tool_call name="${part.name}">`,
            text: quoteText(part.arguments),
            close: '</tool_call>',
          },
        ]
      : [],
  );
  return [...(spoken.length > 0 ? [block('assistant', 'assistant', '', spoken)] : []), ...calls];
}

function block(of: Block['of'], tag: string, attributes: string, content: readonly ContentPart[]): Block {
  return { of, open: `<${tag}${attributes}>`, text: quoteText(quotedContent(content)), close: `</${tag}>` };
}

function quotedContent(content: readonly ContentPart[]): string {
  return content
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'image' || part.type === 'file' ? [`[${describeMedia(part)} not shown]`] : [];
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
  { open, text, close }: Block,
  size: { readonly tokens: number; readonly limit: number; readonly headShare: number },
): string {
  if (size.tokens <= size.limit) return `${open}\n${text}\n${close}`;
  return `${open}\n${shorten(text, (text.length * size.limit) / size.tokens, size.headShare)}\n${close}`;
}

/** A block whose kind has a limit, shortened to it. */
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
  const leastOf = ({ open, text, close }: Block): number =>
    open.length + close.length + 3 + Math.min(text.length, LEAST_SHOWN);
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
  const shortened = shown.map(({ of, open, text, close }, index): Block => {
    return { of, open, text: shorten(text, limitAt(index), headShare), close };
  });
  return { blocks: shortened, leftOut };
}

function leftOutMark(blocks: number): string {
  return `[… ${formatCount(blocks)} older entries left out …]`;
}

/** At most `characters` of a text, with a mark where its middle was. */
function shorten(text: string, characters: number, headShare: number): string {
  if (text.length <= characters) return text;
  const label = (omitted: number): string => `\n[… ${formatCount(omitted)} characters left out …]\n`;
  const kept = Math.floor(characters) - label(text.length).length;
  if (kept <= 0) return `[${formatCount(text.length)} characters left out]`;
  const head = Math.ceil(kept * headShare);
  return headOf(text, head) + label(text.length - kept) + tailOf(text, kept - head);
}
