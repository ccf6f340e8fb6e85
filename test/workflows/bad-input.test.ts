import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { importSessions } from '../../src/import/import-sessions.ts';
import { verify } from '../../src/verify/verify.ts';
import { prose } from '../context/builders.ts';
import { writeSession } from '../packages/lab/lab-harness.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;
let directory: string;
const MODEL = 'simulator/sim-32k';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-bad-input-'));
  harness = await startTurnHarness({ agent: { model: MODEL } });
  await harness.startWorker();
});

afterAll(async () => {
  await harness.stop();
  await rm(directory, { recursive: true });
});

type Message = Readonly<Record<string, unknown>>;

/** An answer that calls a tool, and what the tool gave. */
function step(number: number, content: string): Message[] {
  const call = { id: `c${number}`, type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content },
  ];
}

async function picture(): Promise<Message> {
  const background = { r: 90, g: 120, b: 10 };
  const png = await sharp({ create: { width: 1_500, height: 1_500, channels: 3, background } })
    .png()
    .toBuffer();
  return { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } };
}

const SHAPES: readonly (readonly [string, () => Promise<Message[]> | Message[]])[] = [
  ['one giant message', () => [{ role: 'user', content: prose(500_000) }]],
  ['only images', async () => [{ role: 'user', content: Array.from({ length: 60 }, await constant(picture())) }]],
  [
    'answers and results without a user',
    () => Array.from({ length: 40 }, (_, index) => step(index, prose(9_000, index))).flat(),
  ],
  [
    'lone surrogates and NUL',
    () => [
      { role: 'user', content: `\ud800 begins, \udc00 ends, \u0000 between ${'\ud83d'.repeat(200)}` },
      ...step(1, `\u0000\udfff ${prose(200_000)} \ud800`),
    ],
  ],
  [
    '50 MB of base64',
    () => [{ role: 'user', content: 'Read it.' }, ...step(1, randomBytes(37_500_000).toString('base64'))],
  ],
];

async function constant<Value>(value: Promise<Value>): Promise<() => Value> {
  const known = await value;
  return () => known;
}

test.each(SHAPES)(
  '%s: the conversation goes on, fits its window, and nothing of its log is lost',
  async (name, write) => {
    const file = await writeSession(directory, `${name}.jsonl`, await write());
    const configuration = loadConfiguration({
      directory,
      environment: { HOLDFAST_SIMULATOR_URL: harness.simulatorUrl, HOLDFAST_MODEL: MODEL },
    });
    const settings = { model: MODEL, preset: 'default', workspace: harness.workspace, user: null };
    const imported = await importSessions(harness.database, { file, configuration, agent: 'default', settings });
    const conversationId = imported.conversations[0]?.conversationId ?? '';
    // Compared where they are: one of them has 50 MB.
    const log = async () =>
      harness.database<{ id: string; content: string }[]>`
      select id, md5(content::text) as content from entries where conversation_id = ${conversationId} order by sequence`;
    const before = [...(await log())];
    const { total: asked } = await harness.requests();
    const turn = await harness.runTask('Say done', { conversationId });
    expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
    expect((await log()).slice(0, before.length)).toEqual(before);
    const { requests, total } = await harness.requests();
    const statuses = requests.slice(asked - total).map(({ status }) => status);
    expect(statuses).toEqual(statuses.map(() => 200));
    const { invariants } = await verify(harness.database, { conversationId });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  },
);
