import { imageSize } from 'image-size';
import type { ContentPart, ImagePart } from '../../context/log/content.ts';
import { jsonOf } from '../../context/log/nested-json.ts';
import { isRecord } from '../../models/protocols/json.ts';
import type { ImportTally, SessionImporter, SessionRecord } from '../session-record.ts';

export abstract class Importer implements SessionImporter {
  protected readonly tally: ImportTally;

  constructor(tally: ImportTally) {
    this.tally = tally;
  }

  abstract read(value: unknown): readonly SessionRecord[];

  end(): SessionRecord[] {
    return [];
  }
}

/** The elements of a value that should be a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a value that should be one; anything else as JSON, so that nothing it says is lost. */
export function textFrom(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : jsonOf(value);
}

/** A string of a record, `undefined` when it has none or an empty one. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An image with its size in pixels; 0 × 0 when nobody can read it. */
export function imagePart(mediaType: string, data: string): ImagePart {
  try {
    const { width, height } = imageSize(Buffer.from(data, 'base64'));
    return { type: 'image', mediaType, data, width, height };
  } catch {
    // The estimate has a rate for images of unknown size.
    return { type: 'image', mediaType, data, width: 0, height: 0 };
  }
}

/** An image from a `data:` address; `null` for any other address. */
export function imageFromAddress(address: unknown): ImagePart | null {
  const found = typeof address === 'string' ? /^data:(image\/[\w.+-]+);base64,/.exec(address) : null;
  if (found === null || typeof address !== 'string') return null;
  return imagePart(found[1] ?? 'image/png', address.slice(found[0].length));
}

/** A block of a kind that the importer does not know: counted, and kept as the JSON that it is. */
export function unknownBlock(block: unknown, tally: ImportTally): ContentPart {
  tally.unknown(`content block ${isRecord(block) ? textFrom(block['type'] ?? 'without type') : typeof block}`);
  return { type: 'text', text: textFrom(block) };
}

/** Text and blocks of a message as parts; empty texts are left away. */
export function contentFrom(value: unknown, toPart: (block: unknown) => ContentPart): readonly ContentPart[] {
  const parts: readonly ContentPart[] = Array.isArray(value)
    ? value.map((block: unknown): ContentPart =>
        typeof block === 'string' ? { type: 'text', text: block } : toPart(block),
      )
    : [{ type: 'text', text: textFrom(value) }];
  return parts.filter((part) => part.type !== 'text' || part.text !== '');
}

/**
 * What neither user nor model said. A block that is marked with a tag is in the slot of its tag, so that a newer one takes its
 * place; any other is in one of its own, so that what is repeated counts once.
 */
export function instructionsFrom(content: readonly ContentPart[], tally: ImportTally): SessionRecord[] {
  return content.flatMap((part): SessionRecord[] => {
    if (part.type !== 'text') {
      tally.leftOut(`${part.type} of instructions`);
      return [];
    }
    return [{ kind: 'instructions', slot: /^\s*<([\w -]+)>/u.exec(part.text)?.[1] ?? part.text, text: part.text }];
  });
}
