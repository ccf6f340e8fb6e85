import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { textOf } from '../context/log/content.ts';
import type { OpenedEntry } from '../client/types.ts';
import type { Holdfast } from '../client/holdfast.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import type { Admitted } from './admission.ts';
import { refused } from './arguments.ts';
import { RequestError } from './problem.ts';

/** A whole conversation as lines of JSON. What is refused is refused before the first line; what fails later cuts the stream off. */
export async function serveExport(client: Holdfast, conversationId: string): Promise<Response> {
  const encoder = new TextEncoder();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const write = async (line: string): Promise<void> => {
    begin();
    await writer.write(encoder.encode(`${line}\n`));
  };
  const exporting = client.conversation.export({ conversationId, write });
  const ended = exporting.then(
    () => writer.close(),
    (error: unknown) => writer.abort(error),
  );
  // The caller may have left.
  ended.catch(() => undefined);
  await Promise.race([begun, exporting]);
  return new Response(readable, { headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } });
}

/** A conversation as `export` wrote it; with keys, under ids of the tenant. */
export async function serveImport(
  context: Context<Admitted>,
  client: Holdfast,
  choices: { readonly agent?: string | undefined; readonly user?: string | undefined },
): Promise<Response> {
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/x-ndjson(?:;|$)/iu.test(type)) {
    throw new RequestError('body_not_json', 'The body must be of content-type application/x-ndjson.');
  }
  const lines = (await context.req.text()).split('\n').filter((line) => line !== '');
  // An id of another tenant must be as good as any.
  const ownIds = context.var.caller.key !== null;
  const imported = await client.conversation.import({ lines: Readable.from(lines), ...definedOf(choices), ownIds });
  return context.json(imported, 201);
}

/**
 * The whole text of an entry, or an image or file in it, byte for byte; a part of the bytes for a `Range`. Never as something to render.
 */
export async function serveBytes(
  context: Context,
  client: Holdfast,
  { entryId, part }: { readonly entryId: string; readonly part?: number | undefined },
): Promise<Response> {
  const bytes = bytesIn(await client.log.open({ entryId }), part);
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="original"',
    'cache-control': 'no-store',
    'accept-ranges': 'bytes',
  };
  const range = rangeIn(context.req.header('range') ?? '', bytes.length);
  if (range === null) return new Response(bytesOf(bytes), { headers });
  const { from, to } = range;
  if (from > to) {
    const contentRange = `bytes */${bytes.length}`;
    throw new RequestError('range_refused', `The content has ${bytes.length} bytes.`, {
      headers: { 'content-range': contentRange },
    });
  }
  return new Response(bytesOf(bytes.subarray(from, to + 1)), {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to}/${bytes.length}` },
  });
}

function bytesIn({ original, content }: OpenedEntry, place: number | undefined): Uint8Array {
  if (place === undefined) return original ?? new TextEncoder().encode(textOf(content));
  const part = content[place];
  if (part === undefined) {
    throw refused([{ field: 'part', message: `must be less than ${content.length}, the parts of the entry` }]);
  }
  if ('data' in part) return Buffer.from(part.data, 'base64');
  return new TextEncoder().encode(textOf([part]));
}

function bytesOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

/**
 * `null`: no range, several, or one of another unit, which RFC 9110 lets a server pass over. One that lies outside ends before it begins.
 */
function rangeIn(header: string, size: number): { readonly from: number; readonly to: number } | null {
  const { first = '', last = '' } = /^bytes=(?<first>\d*)-(?<last>\d*)$/u.exec(header)?.groups ?? {};
  if (first === '' && last === '') return null;
  if (first === '') return { from: Math.max(0, size - Number(last)), to: size - 1 };
  return { from: Number(first), to: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
