import { headOf, tailOf } from './clip.ts';
import type { ContentPart } from './content.ts';
import type { Entry } from './entry.ts';
import { rawTokens } from './estimate.ts';
import { measureText } from './measure.ts';
import { describeMedia, formatCount } from './placeholders.ts';
import type { Calibration } from './plan.ts';

/** Tags that a transcript is made of; in quoted text they are broken, so that no content can close its frame (R29). */
const FRAME_TAG =
  /<(\/?)(transcript|previous_summary|part|user|assistant|note|tool_call|tool_result|summary)(?=[\s>/])/gi;

/** Share of a shortened text that its head keeps (seeds/cowork.md). */
const HEAD_SHARE = 0.7;
/** An entry at the very beginning may keep this share of what one at the end may keep. */
const OLDEST_SHARE = 0.25;

interface Block {
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
}): string {
  const blocks = input.entries.flatMap(entryBlocks);
  const tokens = blocks.map((block) => rawTokens(measureText(block.text)) * input.calibration.factor);
  const frames = blocks.map((block) => rawTokens(measureText(block.open + block.close)) * input.calibration.factor + 1);
  const limits = blockLimits(tokens, input.maximumTokens - frames.reduce((sum, frame) => sum + frame, 0));
  return blocks.map((block, index) => renderBlock(block, tokens[index] ?? 0, limits[index] ?? 0)).join('\n');
}

/** Makes tags of the transcript's own frame harmless inside quoted text. */
export function quoteText(text: string): string {
  return text.replace(FRAME_TAG, '<$1 $2');
}

function entryBlocks(entry: Entry): Block[] {
  switch (entry.kind) {
    case 'user':
      return [block('user', '', entry.content)];
    case 'assistant':
      return assistantBlocks(entry);
    case 'tool_result':
      return [
        block(
          'tool_result',
          ` name="${entry.toolName ?? ''}"${entry.isError === true ? ' failed="true"' : ''}`,
          entry.content,
        ),
      ];
    case 'branch_summary':
      return [block('summary', ' of="another branch"', entry.content)];
    case 'note':
      return entry.slot === 'plan' ? [block('note', ' of="plan"', entry.content)] : [];
    case 'compaction':
      return [];
  }
}

function assistantBlocks(entry: Entry): Block[] {
  const spoken = entry.content.filter((part) => part.type === 'text' && part.text.trim() !== '');
  const calls = entry.content.flatMap((part): Block[] =>
    part.type === 'tool_call'
      ? [{ open: `<tool_call name="${part.name}">`, text: quoteText(part.arguments), close: '</tool_call>' }]
      : [],
  );
  return [...(spoken.length > 0 ? [block('assistant', '', spoken)] : []), ...calls];
}

function block(tag: string, attributes: string, content: readonly ContentPart[]): Block {
  return { open: `<${tag}${attributes}>`, text: quoteText(quotedContent(content)), close: `</${tag}>` };
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

function renderBlock({ open, text, close }: Block, tokens: number, limit: number): string {
  if (tokens <= limit) return `${open}\n${text}\n${close}`;
  return `${open}\n${shorten(text, limit / tokens)}\n${close}`;
}

function shorten(text: string, share: number): string {
  const label = (omitted: number): string => `\n[… ${formatCount(omitted)} characters left out …]\n`;
  const kept = Math.floor(text.length * share) - label(text.length).length;
  if (kept <= 0) return `[${formatCount(text.length)} characters left out]`;
  const head = Math.ceil(kept * HEAD_SHARE);
  return headOf(text, head) + label(text.length - kept) + tailOf(text, kept - head);
}
