// An MCP server over standard input and output that behaves badly on demand: each tool is a way to. Written without
// the SDK, which would not let it.
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pending = new Map();
let removed = false;
let changed = false;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const ask = (method, params) =>
  new Promise((resolve) => {
    pending.set(method, resolve);
    send({ id: method, method, params });
  });

const tool = (name, annotations, properties = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  ...(annotations && { annotations }),
});

const tools = [
  tool('echo', { readOnlyHint: true }, { text: { type: 'string', description: 'What comes back.' } }),
  tool('put', { idempotentHint: true }),
  tool('write/now.at-once'),
  ...['parts', 'structured', 'environment', 'die', 'huge', 'twice', 'never', 'flood', 'sample', 'nonsense'].map(
    (name) => tool(name),
  ),
  tool('remove_echo'),
  tool('change_echo'),
  tool('hold_none', { readOnlyHint: true }),
  tool('hold_idempotent', { idempotentHint: true }),
  tool('hold_once'),
];

if (process.argv.includes('--lies')) tools.push({ ...tool('odd'), inputSchema: { type: 'string' } });

/** Never answers its first call, over restarts too. */
const hold = (name) => () => {
  const file = `${name}.held`;
  if (existsSync(file)) return text(`${name} again`);
  return writeFileSync(file, '');
};

const calls = {
  echo: ({ text: said }) => (removed || changed ? null : text(said)),
  put: () => text('put'),
  'write/now.at-once': () => text('written'),
  parts: () => ({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', mimeType: 'image/webp', data: PICTURE },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('no picture').toString('base64') },
      { type: 'audio', mimeType: 'audio/wav', data: Buffer.from('sound').toString('base64') },
      { type: 'resource_link', name: 'report', uri: 'file:///report.md' },
      { type: 'resource', resource: { uri: 'note:1', mimeType: 'text/plain', text: 'remember' } },
    ],
    isError: true,
  }),
  structured: () => ({ content: [], structuredContent: { degrees: 21 } }),
  environment: () => text(JSON.stringify({ ...process.env, HOLDFAST_FIXTURE: String(process.pid) })),
  die: () => process.exit(3),
  huge: () => {
    const piece = 'x'.repeat(1024 * 1024);
    for (let written = 0; written < 200; written += 1) process.stdout.write(piece);
  },
  twice: (_, id) => {
    send({ id, result: text('first') });
    return text('second');
  },
  never: () => undefined,
  flood: async () => {
    for (let line = 0; line < 4_000; line += 1) {
      if (!process.stderr.write(`${'log '.repeat(250)}\n`))
        await new Promise((resolve) => process.stderr.once('drain', resolve));
      if (line % 10 === 0) process.stdout.write('not JSON at all\n');
    }
    return text('flooded');
  },
  sample: async () => {
    const answers = ['sampling/createMessage', 'elicitation/create'].map((method) =>
      ask(method, { messages: [], maxTokens: 1, message: 'Who?', requestedSchema: {} }),
    );
    return text(JSON.stringify(await Promise.all(answers)));
  },
  nonsense: () => ({ content: [{ type: 'hologram' }] }),
  change_echo: () => {
    changed = true;
    tools[0].inputSchema.properties = { words: { type: 'array', items: { type: 'string' } } };
    tools[0].inputSchema.required = ['words'];
    send({ method: 'notifications/tools/list_changed' });
    return text('changed');
  },
  remove_echo: () => {
    removed = true;
    send({ method: 'notifications/tools/list_changed' });
    return text('removed');
  },
};

for (const name of ['hold_none', 'hold_idempotent', 'hold_once']) calls[name] = hold(name);

async function answer({ id, method, params, result, error }) {
  if (pending.has(id)) pending.get(id)(error ?? result);
  else if (method === 'initialize') {
    const { protocolVersion } = params;
    send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'fixture', version: '1' } },
    });
  } else if (method === 'tools/list') {
    const from = Number(params?.cursor ?? 0);
    const nextCursor = from + 5 < tools.length ? String(from + 5) : undefined;
    send({ id, result: { tools: tools.slice(from, from + 5), nextCursor } });
  } else if (method === 'tools/call') {
    const called = await calls[params.name](params.arguments, id);
    if (called === null) send({ id, error: { code: -32602, message: `no tool ${params.name} takes that` } });
    else if (called !== undefined) send({ id, result: called });
  }
}

if (process.argv.includes('--broken')) {
  process.stderr.write(`cannot read ${process.env.FIXTURE_KEY}\n`);
  process.exit(1);
}
createInterface({ input: process.stdin }).on('line', (line) => void answer(JSON.parse(line)));
