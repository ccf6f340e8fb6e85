import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface JsonPayload {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly data?: string;
}

const ENCODING = Buffer.from('binary/reversed').toString('base64');
const PLAIN = Buffer.from('json/plain').toString('base64');

const reversed = (text = ''): string => Buffer.from(text, 'base64').reverse().toString('base64');

const CODECS: Readonly<Record<string, (payload: JsonPayload) => JsonPayload>> = {
  '/encode': ({ metadata, data }) => ({ metadata: { ...metadata, encoding: ENCODING }, data: reversed(data) }),
  '/decode': (payload) =>
    payload.metadata?.['encoding'] === ENCODING
      ? { metadata: { ...payload.metadata, encoding: PLAIN }, data: reversed(payload.data) }
      : payload,
};

export interface CodecServer {
  readonly endpoint: string;
  /** Requests with the right key that were answered, by path. */
  readonly answered: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** A codec server by Temporal's protocol, which turns the bytes of each payload around. */
export async function startCodecServer(authorization: string): Promise<CodecServer> {
  const answered: Record<string, number> = {};
  const server = createServer((request, response) => {
    const codec = CODECS[request.url ?? ''];
    if (codec === undefined || request.headers.authorization !== authorization) {
      response.writeHead(codec === undefined ? 404 : 401).end();
      return;
    }
    answered[request.url ?? ''] = (answered[request.url ?? ''] ?? 0) + 1;
    void bodyOf(request).then(({ payloads }) => response.end(JSON.stringify({ payloads: payloads.map(codec) })));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    answered,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<{ payloads: JsonPayload[] }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return JSON.parse(Buffer.concat(chunks).toString()) as { payloads: JsonPayload[] };
}
