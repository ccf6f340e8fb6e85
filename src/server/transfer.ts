import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { textOf } from '../context/log/content.ts';
import type { Holdfast } from '../client/holdfast.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { named, userName } from '../client/arguments.ts';
import { argumentReader } from './arguments.ts';
import { RequestError } from './problem.ts';

/** A whole conversation as lines of JSON. What is refused is refused before the first line; what fails later cuts the stream off. */
export async function serveExport(context: Context, client: Holdfast): Promise<Response> {
  const conversationId = context.req.param('conversationId') ?? '';
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

/** What the query of an import takes: an agent of the configuration, and nothing beyond it. */
export const importArguments = { agent: named.optional(), user: userName.optional() };
const readImportArguments = argumentReader({
  method: 'get',
  path: '/conversations/import',
  arguments: importArguments,
});

/** A conversation as `export` wrote it, under the same ids. */
export async function serveImport(context: Context, client: Holdfast): Promise<Response> {
  const chosen = definedOf(await readImportArguments(context));
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/x-ndjson(?:;|$)/iu.test(type)) {
    throw new RequestError('body_not_json', 'The body must be of content-type application/x-ndjson.');
  }
  const lines = (await context.req.text()).split('\n').filter((line) => line !== '');
  const imported = await client.conversation.import({ lines: Readable.from(lines), ...chosen });
  return context.json(imported, 201);
}

/** An original byte for byte, or the text of an entry that is shown whole; a part of it for a `Range`. Never as something to render. */
export async function serveBytes(context: Context, client: Holdfast): Promise<Response> {
  const { original, content } = await client.log.open({ entryId: context.req.param('entryId') ?? '' });
  const bytes = original ?? new TextEncoder().encode(textOf(content));
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="original"',
    'cache-control': 'no-store',
    'accept-ranges': 'bytes',
  };
  const asked = context.req.header('range');
  if (asked === undefined) return new Response(bytesOf(bytes), { headers });
  const range = rangeIn(asked, bytes.length);
  if (range === null) {
    throw new RequestError('range_refused', `Range must be one range of bytes within 0-${bytes.length - 1}.`);
  }
  const { from, to } = range;
  return new Response(bytesOf(bytes.subarray(from, to + 1)), {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to}/${bytes.length}` },
  });
}

function bytesOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

/** `null`: it is not understood, or lies outside. */
function rangeIn(header: string, size: number): { readonly from: number; readonly to: number } | null {
  const { first = '', last = '' } = /^bytes=(?<first>\d*)-(?<last>\d*)$/u.exec(header)?.groups ?? {};
  if (first === '' && last === '') return null;
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return from <= to && from < size ? { from, to } : null;
}
