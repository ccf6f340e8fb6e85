import { readFile, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { attachedText } from '../../context/log/content.ts';
import type { MessageContent, MessagePart } from '../../client/arguments.ts';
import { UsageError } from '../usage-error.ts';
import { isPdf, measurePicture } from '../../tools/runtime/media.ts';
import { option } from '../options.ts';

/** Anthropic takes requests of 32 MB, base64 makes a third more of a file, and the conversation needs room too. Bytes. */
const LARGEST_TOGETHER = 20_000_000;

const NAMES_OF_MEDIA: ReadonlySet<string> = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.pdf']);

/** Names files, separated by commas, and may be repeated. */
export function attachOption(what: string) {
  const none: readonly string[] = [];
  return option('--attach <files>', `${what}, separated by commas`, collectFiles, none).default([], 'none');
}

function collectFiles(text: string, earlier: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...earlier, ...names.filter((name) => name !== '')];
}

/**
 * A text with the files beside it as a message's content.
 * @throws UsageError when a file cannot be read, is of a kind that models do not read, or all are too large
 */
export async function withAttachments(text: string, files: readonly string[]): Promise<MessageContent> {
  if (files.length === 0) return text;
  const parts: MessagePart[] = [];
  let bytes = 0;
  for (const file of files) {
    bytes += await sizeOf(file);
    if (bytes > LARGEST_TOGETHER) {
      const limit = LARGEST_TOGETHER / 1_000_000;
      throw refused(`The attached files are larger than ${limit} MB together.`, 'Attach fewer or smaller files.');
    }
    parts.push(toPart(file, await readWhole(file)));
  }
  return [{ type: 'text', text }, ...parts];
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (found.isDirectory()) throw refused(`${file} is a folder.`, 'Name the files in it, separated by commas.');
  if (found.size === 0) throw refused(`${file} is empty.`, 'Attach a file that holds something.');
  return found.size;
}

async function readWhole(file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
}

function unreadable(file: string, error: unknown): UsageError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return refused(`The file ${file} cannot be read (${code}).`, 'Name files that exist, separated by commas.');
}

function toPart(file: string, data: Buffer): MessagePart {
  const name = basename(file);
  if (measurePicture(data) !== undefined) return { type: 'image', data: data.toString('base64') };
  if (isPdf(data)) return { type: 'file', mediaType: 'application/pdf', name, data: data.toString('base64') };
  if (NAMES_OF_MEDIA.has(extname(name).toLowerCase())) {
    throw refused(
      `${file} is not what its name says: it begins as no picture and no PDF does.`,
      'Attach another file.',
    );
  }
  // As text it can be searched, summarized and shortened like all that was said.
  if (isText(data)) return { type: 'text', text: attachedText(name, data.toString('utf8')) };
  throw refused(
    `${file} is neither a picture that models read (PNG, JPEG, GIF, WebP) nor a PDF nor text.`,
    'Convert it, or put it into the workspace and let the agent use its tools.',
  );
}

function isText(data: Buffer): boolean {
  if (data.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(data);
    return true;
  } catch {
    return false;
  }
}

function refused(message: string, next: string): UsageError {
  return new UsageError('usage', message, next);
}
