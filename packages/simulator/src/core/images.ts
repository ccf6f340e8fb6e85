import { imageSize } from 'image-size';

/** Tokens of an image whose size cannot be read, and the most that one image costs. */
const LARGEST_IMAGE_TOKENS = 1600;

/** Pixels per side of the square that costs one token. */
const SQUARE_PIXELS = 28;

/** Tokens of an image by its pixels, as the vendors count, never by its bytes. */
export function imageTokens(base64: string): number {
  try {
    const { width, height } = imageSize(Buffer.from(base64, 'base64'));
    if (width === 0 || height === 0) return LARGEST_IMAGE_TOKENS;
    return Math.min(LARGEST_IMAGE_TOKENS, Math.ceil(width / SQUARE_PIXELS) * Math.ceil(height / SQUARE_PIXELS));
  } catch {
    // Not an image that the library knows: the vendors' flat rate.
    return LARGEST_IMAGE_TOKENS;
  }
}
