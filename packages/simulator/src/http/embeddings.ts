import { Hono } from 'hono';
import { z } from 'zod';

/** Numbers of a vector: enough that words of a test seldom share a place. */
const DIMENSIONS = 256;
const BODY = z.object({ model: z.string(), input: z.union([z.string(), z.array(z.string())]) });
/** Endings that forms of a word differ by; a model knows far more. */
const ENDINGS = /(?:ing|ies|ied|ed|es|s|y|e)$/u;

/** `POST /v1/embeddings`: bags of stems, each stem at the place that its hash says. The same text gives the same vector. */
export function embeddingRoutes(): Hono {
  const app = new Hono();
  app.post('/', async (context) => {
    const parsed = BODY.safeParse(await context.req.json().catch(() => null));
    if (!parsed.success) {
      const message = `invalid request: ${parsed.error.issues.map(({ path }) => path.join('.')).join(', ')}`;
      return context.json({ error: { message, type: 'invalid_request_error', code: null, param: null } }, 400);
    }
    const { model, input } = parsed.data;
    const texts = typeof input === 'string' ? [input] : input;
    const words = texts.reduce((sum, text) => sum + stemsOf(text).length, 0);
    return context.json({
      object: 'list',
      model,
      data: texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })),
      usage: { prompt_tokens: words, total_tokens: words },
    });
  });
  return app;
}

function vectorOf(text: string): number[] {
  const vector = Array.from({ length: DIMENSIONS }, () => 0);
  for (const stem of stemsOf(text)) {
    const place = hash(stem) % DIMENSIONS;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

function stemsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.length > 4 ? word.replace(ENDINGS, '') : word,
  );
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return value;
}
