import { nameText, quoteFile, tagsOf } from './frames.ts';

/**
 * What an entry says, independent of any provider. Stored as JSON text, so NUL and lone
 * surrogates survive as escapes; bytes that are not valid UTF-8 live in content pieces.
 */

/** Words. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** What the model named as its sources. Kept for the reader, never sent back: the documents may have left the view. */
  readonly citations?: readonly Citation[];
}

/** Where a stretch of an answer comes from. */
export interface Citation {
  /** Offset of the stretch in the text, in UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** As the vendor gave it: the quoted words, document and page, or address. */
  readonly source: Readonly<Record<string, unknown>>;
}

/** Signature of a thinking part that holds another block of a vendor, such as a call of the vendor's own tools, as JSON in `encrypted`. */
export const VENDOR_BLOCK = 'vendor_block';

/** A model's reasoning. Bound to the provider that made it; never sent to another one. */
export interface ThinkingPart {
  readonly type: 'thinking';
  readonly text: string;
  /** Provider name (`anthropic`, `openai`, …) whose API produced the part. */
  readonly provider: string;
  /** Opaque proof that the provider wants back byte for byte. */
  readonly signature?: string;
  /** Encrypted reasoning (Anthropic `redacted_thinking`, OpenAI `encrypted_content`). */
  readonly encrypted?: string;
}

/** An image. */
export interface ImagePart {
  readonly type: 'image';
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /** In a view: patches of 28 × 28 pixels to which the image is scaled before it is sent. Absent: its own size. */
  readonly mostPatches?: number;
}

/** A file, such as a PDF. */
export interface FilePart {
  readonly type: 'file';
  readonly mediaType: string;
  readonly name: string;
  /** Base64. */
  readonly data: string;
  readonly pages: number;
}

/** The model's request to run a tool. `arguments` is the text exactly as the model wrote it, valid JSON or not. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** Position among the tool calls of one answer, from 0. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What is shown instead of read. */
export type MediaPart = ImagePart | FilePart;

/** A piece of an entry's content. */
export type ContentPart = TextPart | ThinkingPart | ImagePart | FilePart | ToolCallPart;

const TEXT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  thinking: ['text', 'provider'],
  image: ['mediaType', 'data'],
  file: ['mediaType', 'name', 'data'],
  tool_call: ['id', 'name', 'arguments'],
} satisfies Record<ContentPart['type'], readonly string[]>;

/** Why nobody could read a content, naming the place only: `part 2: arguments of tool_call is no text`. `null`: it is well formed. */
export function contentProblem(content: unknown): string | null {
  if (!Array.isArray(content)) return 'it is no list';
  for (const [position, part] of content.entries()) {
    const type: unknown = typeof part === 'object' && part !== null ? Reflect.get(part, 'type') : undefined;
    const fields = typeof type === 'string' && Object.hasOwn(TEXT_FIELDS, type) ? TEXT_FIELDS[type] : undefined;
    if (fields === undefined) return `part ${position + 1} is of no known type`;
    const wrong = fields.find((field) => typeof Reflect.get(part, field) !== 'string');
    if (wrong !== undefined) return `part ${position + 1}: ${wrong} of ${String(type)} is no text`;
  }
  return null;
}

/** Whether a file of this media type reaches a model as its text: `text/*`, JSON, XML, YAML and sources. */
export function isReadAsText(mediaType: string): boolean {
  return /^text\/|[/+](?:json|xml|yaml|javascript|typescript)(?:;|$)/.test(mediaType);
}

export function isMedia(part: ContentPart): part is MediaPart {
  return part.type === 'image' || part.type === 'file';
}

/** The text parts joined by newlines; other parts leave no trace. */
export function textOf(content: readonly ContentPart[]): string {
  return textsOf(content).join('\n');
}

export function textsOf(content: readonly ContentPart[]): string[] {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

/** A file of text as a part of a user's message: in a frame, for what a file says its user does not say. */
export function attachedText(name: string, text: string): string {
  const { open, close } = tagsOf('attachedFile', { name });
  return `${open}\n${quoteFile(text)}\n${close}`;
}

const { open: OPEN, close: CLOSE } = tagsOf('attachedFile', { name: '' });
const BEFORE_NAME = OPEN.slice(0, -'">'.length);

/** `null` for a part of a message that is no file of text. A user who types the frame himself is taken at his word. */
export function attachedFile(part: ContentPart): { readonly name: string; readonly text: string } | null {
  if (part.type !== 'text' || !part.text.startsWith(BEFORE_NAME) || !part.text.endsWith(`\n${CLOSE}`)) return null;
  const end = part.text.indexOf('">\n');
  if (end === -1) return null;
  return { name: part.text.slice(BEFORE_NAME.length, end), text: part.text.slice(end + 3, -CLOSE.length - 1) };
}

/** What the user says in a message: of an attached file, its name. */
export function saidText(content: readonly ContentPart[]): string {
  return textOf(
    content.map((part) => {
      const file = attachedFile(part);
      return file === null ? part : { type: 'text', text: `(file ${nameText(file.name)})` };
    }),
  );
}
