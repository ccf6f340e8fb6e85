import { createHash } from 'node:crypto';
import type { ContentPart, ImagePart } from '../../context/log/content.ts';
import { imagePatches, PATCH_EDGE } from '../../context/log/measure.ts';
import type { View, ViewMessage } from '../../context/view/view.ts';

/** What a vendor takes of images; over it, whole requests are refused. */
export interface ImageLimits {
  /** Pixels. */
  readonly longestEdge: number;
  /** Characters of base64, as vendors count an image's size. */
  readonly longestData: number;
  /** Bytes of a whole request, base64 as it is sent; what no other part of it can reach alone. */
  readonly requestBytes: number;
}

/** Formats that all three protocols take. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

/**
 * Anthropic refuses an edge over 8,000 pixels, and over 2,000 in requests with more than 20 images: the lower one
 * holds always, so that the 21st image does not change the earlier ones and with them the cached prompt. Models
 * read no more than about 1,600 to 2,000 pixels anyway. An image may have 5 MB, a request 32 MB
 * (https://docs.anthropic.com/en/api/errors, "Request size limits").
 */
export const ANTHROPIC_IMAGES: ImageLimits = {
  longestEdge: 2_000,
  longestData: 5_000_000,
  requestBytes: 32_000_000,
};

/**
 * OpenAI takes 20 MB an image and scales it to 2,048 pixels itself, and 50 MB of images a request
 * (https://platform.openai.com/docs/guides/images-vision, "Image input requirements"); compatible servers take no more.
 */
export const OPENAI_IMAGES: ImageLimits = {
  longestEdge: 2_048,
  longestData: 20_000_000,
  requestBytes: 50_000_000,
};

/** Shares of the longest edge that are tried until an image is small enough. */
const SCALES = [1, 0.7, 0.5, 0.35, 0.25];
const JPEG_QUALITY = 85;

/** Characters of base64 of fitted images that are remembered: a view is sent again with every step. */
const REMEMBERED_CHARACTERS = 64_000_000;
const remembered = new Map<string, Promise<ImagePart>>();
let rememberedCharacters = 0;

/**
 * The view with images that the vendor would refuse scaled down or converted; the same image gives the same
 * bytes, so that prompts stay cached. An image that cannot be read stays as it is.
 */
export async function fitImages(view: View, limits: ImageLimits): Promise<View> {
  const fitPart = async (part: ContentPart): Promise<ContentPart> =>
    part.type === 'image' && !fits(part, limits) ? fitted(part, limits) : part;
  const fitParts = async (content: readonly ContentPart[]): Promise<readonly ContentPart[]> =>
    content.some((part) => part.type === 'image' && !fits(part, limits)) ? Promise.all(content.map(fitPart)) : content;
  const fitMessage = async (message: ViewMessage): Promise<ViewMessage> => {
    if (message.role !== 'tool_results') return { ...message, content: await fitParts(message.content) };
    const results = message.results.map(async (result) => ({ ...result, content: await fitParts(result.content) }));
    return { ...message, results: await Promise.all(results) };
  };
  return { ...view, messages: await Promise.all(view.messages.map(fitMessage)) };
}

function fits(image: ImagePart, limits: ImageLimits): boolean {
  const { mediaType, data, width, height } = image;
  return (
    IMAGE_TYPES.some((type) => type === mediaType) &&
    data.length <= limits.longestData &&
    Math.max(width, height) <= Math.min(limits.longestEdge, edgeOfPatches(image))
  );
}

/** Longest edge with which an image has no more patches than the view shows of it. Pixels. */
function edgeOfPatches({ mostPatches, ...image }: ImagePart): number {
  const { width, height } = image;
  const longest = Math.max(width, height);
  if (mostPatches === undefined || longest === 0) return Infinity;
  const patchesAt = (edge: number): number =>
    imagePatches({ ...image, width: (width * edge) / longest, height: (height * edge) / longest });
  let edge = longest;
  while (edge > PATCH_EDGE && patchesAt(edge) > mostPatches) edge -= PATCH_EDGE;
  return edge;
}

async function fitted(image: ImagePart, limits: ImageLimits): Promise<ImagePart> {
  const digest = createHash('sha256').update(image.data).digest('hex');
  const longestEdge = Math.min(limits.longestEdge, edgeOfPatches(image));
  const key = `${digest} ${longestEdge} ${limits.longestData}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const fitting = scaleDown(image, { ...limits, longestEdge });
  remembered.set(key, fitting);
  rememberedCharacters += (await fitting).data.length;
  for (const [oldest, kept] of remembered) {
    if (rememberedCharacters <= REMEMBERED_CHARACTERS) break;
    // Before the wait: another call may look for the oldest meanwhile.
    remembered.delete(oldest);
    rememberedCharacters -= (await kept).data.length;
  }
  return fitting;
}

async function scaleDown(image: ImagePart, limits: ImageLimits): Promise<ImagePart> {
  try {
    // Loaded when it is needed first: it takes a while, and most turns have no such image.
    const { default: sharp } = await import('sharp');
    const source = Buffer.from(image.data, 'base64');
    const { hasAlpha, format } = await sharp(source).metadata();
    // Drawings and screens stay sharp; photographs, and what is too large as PNG, become JPEG.
    const asPng = hasAlpha || format === 'png' || format === 'gif' || format === 'svg';
    for (const scale of SCALES) {
      const edge = Math.floor(limits.longestEdge * scale);
      const resized = sharp(source).autoOrient().resize(edge, edge, { fit: 'inside', withoutEnlargement: true });
      const types = asPng && scale === 1 ? (['png', 'jpeg'] as const) : (['jpeg'] as const);
      for (const type of types) {
        const encoded =
          type === 'png'
            ? resized.clone().png()
            : resized.clone().flatten({ background: 'white' }).jpeg({ quality: JPEG_QUALITY });
        const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
        const text = data.toString('base64');
        if (text.length > limits.longestData) continue;
        return { type: 'image', mediaType: `image/${type}`, data: text, width: info.width, height: info.height };
      }
    }
    return image;
  } catch {
    // Not an image that can be read, or a platform without the library: a refused type becomes a line that says so,
    // and what the vendor refuses as too large is left out then.
    return image;
  }
}
