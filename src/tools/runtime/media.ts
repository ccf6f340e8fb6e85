/** What a picture or document is, read from its bytes, whatever its name or its sender says. */
import { imageSize } from 'image-size';

/** Pictures that all vendors read, by the name that `image-size` gives them. */
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** Where a PDF hides its page tree in compressed objects, a page is taken to be this long. Bytes. */
const TYPICAL_PDF_PAGE = 50_000;

/** `undefined`: no picture that models read. */
export function measurePicture(data: Buffer): { mediaType: string; width: number; height: number } | undefined {
  try {
    const { type, width, height } = imageSize(data);
    const mediaType = IMAGE_TYPES[type ?? ''];
    return mediaType === undefined ? undefined : { mediaType, width, height };
  } catch {
    // No picture.
    return undefined;
  }
}

export function isPdf(data: Buffer): boolean {
  return data.subarray(0, 5).toString('latin1') === '%PDF-';
}

/** Of a PDF; for the estimate of tokens only. */
export function countPages(data: Buffer): number {
  const text = data.toString('latin1');
  const listed = text.match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0;
  const counted = [...text.matchAll(/\/Count\s+(\d{1,5})/g)].map(([, pages]) => Number(pages));
  const found = Math.max(listed, ...counted);
  return found > 0 ? found : Math.ceil(data.length / TYPICAL_PDF_PAGE);
}
