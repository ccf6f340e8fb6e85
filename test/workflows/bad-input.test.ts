import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { importSessions } from '../../src/import/import-sessions.ts';
import { verify } from '../../src/verify/verify.ts';
import { prose } from '../context/builders.ts';
import { writeSession } from '../packages/lab/lab-harness.ts';
import { useWorkingHarness } from '../support/turn-harness.ts';

const MODEL = 'simulator/sim-32k';

const harness = useWorkingHarness({ agent: { model: MODEL } });

type Message = Readonly<Record<string, unknown>>;

/** An answer that calls a tool, and what the tool gave. */
function step(content: string): Message[] {
  const call = { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content },
  ];
}

const SHAPES: readonly (readonly [string, () => Message[]])[] = [
  ['one giant message', () => [{ role: 'user', content: prose(500_000) }]],
  [
    'lone surrogates and NUL',
    () => [
      { role: 'user', content: `\ud800 begins, \udc00 ends, \u0000 between ${'\ud83d'.repeat(200)}` },
      ...step(`\u0000\udfff ${prose(200_000)} \ud800`),
    ],
  ],
  [
    // More than one message of Temporal may hold.
    '6 MB of base64',
    () => [{ role: 'user', content: 'Read it.' }, ...step(randomBytes(4_500_000).toString('base64'))],
  ],
];

test.each(SHAPES)(
  '%s: the conversation goes on, fits its window, and nothing of its log is lost',
  async (name, write) => {
    const file = await writeSession(harness.workspace, `${name}.jsonl`, write());
    const configuration = loadConfiguration({
      directory: harness.workspace,
      environment: { HOLDFAST_SIMULATOR_URL: harness.simulatorUrl, HOLDFAST_MODEL: MODEL },
    });
    const settings = { model: MODEL, preset: 'default', workspace: harness.workspace, user: null };
    const imported = await importSessions(harness.database, { file, configuration, agent: 'default', settings });
    const conversationId = imported.conversations[0]?.conversationId ?? '';
    // Compared where they are: one of them has 6 MB.
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
