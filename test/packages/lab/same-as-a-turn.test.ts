import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { importSessions } from '../../../src/import/import-sessions.ts';
import { RecallSearch } from '../../../packages/lab/src/facts/recall-search.ts';
import { poolFacts } from '../../../packages/lab/src/facts/fact-pool.ts';
import { loadSessions } from '../../../packages/lab/src/session/lab-session.ts';
import { generateSession } from '../../../dev/bench/generated/generate-session.ts';
import { searchMemory } from '../../../src/store/memory/recall-search.ts';
import { startTurnHarness } from '../../support/turn-harness.ts';
import type { TurnHarness } from '../../support/turn-harness.ts';
import { preset, useLab, writeSession } from './lab-harness.ts';

const { replay } = useLab();

let harness: TurnHarness;
let directory: string;

beforeAll(async () => {
  harness = await startTurnHarness();
  directory = await mkdtemp(join(tmpdir(), 'holdfast-same-'));
  await harness.startWorker();
});

afterAll(async () => {
  await harness.stop();
  await rm(directory, { recursive: true });
});

async function importAs(file: string, presetName: string, model = 'simulator/sim-32k'): Promise<string> {
  const configuration = loadConfiguration({
    directory,
    environment: { HOLDFAST_SIMULATOR_URL: harness.simulatorUrl, HOLDFAST_MODEL: 'simulator/sim-32k' },
  });
  const settings = { model, preset: presetName, workspace: harness.workspace, user: null };
  const request = { file, configuration, agent: 'default', settings };
  const { conversations } = await importSessions(harness.database, request);
  return conversations[0]?.conversationId ?? '';
}

interface StoredPass {
  readonly form: string;
  readonly reason: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly firstKeptSequence: number | null;
  readonly clips: number;
  readonly clears: number;
  readonly parts: number;
}

/** A session that stays below every trigger until the last message, which brings the view over it. */
function sessionBeforeItsPass(
  question: string,
  letters: number,
): {
  readonly recorded: readonly unknown[];
  readonly whole: readonly unknown[];
} {
  const recorded = [
    { role: 'user', content: 'Read the letters and keep every reference number.' },
    ...Array.from({ length: letters }, (_, index) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: `c${index}`,
            type: 'function',
            function: { name: 'read_file', arguments: `{"path":"letters/${index}.txt"}` },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: `c${index}`,
        content: `Reference REF_${index}_7781. ${'A line of the letter. '.repeat(160)}`,
      },
    ]).flat(),
    { role: 'assistant', content: 'All letters are read.' },
  ];
  const answer = { role: 'assistant', content: 'It is done.' };
  return { recorded, whole: [...recorded, { role: 'user', content: question }, answer] };
}

/** Sizes with which the view stays below the preset's trigger until the last message brings it over. */
test.each([
  { name: 'default', window: 32, letters: 20, remarks: 1_300, tolerance: 5 },
  // Its prompt tells of the worker's device, whose name is longer on one machine than on another.
  { name: 'wolffish', window: 64, letters: 14, remarks: 1_000, tolerance: 25 },
])(
  'R18 the pass of a replay under preset $name is the pass that a turn makes, with a ledger of the results that left',
  async ({ name, window, letters, remarks, tolerance }) => {
    const model = `simulator/sim-${window}k`;
    const question = `Now answer. ${'Mind this remark, too. '.repeat(remarks)}`;
    const { recorded, whole } = sessionBeforeItsPass(question, letters);
    const file = await writeSession(directory, `${name}.jsonl`, whole);
    const lab = await replay(file, {
      windows: [window * 1_024],
      policies: [preset(name)],
      prices: model,
    });
    const [pass] = lab.replays[0]?.passes ?? [];
    expect(lab.presets[0]?.passes).toBe(1);

    const conversationId = await importAs(
      await writeSession(directory, `${name}-recorded.jsonl`, recorded),
      name,
      model,
    );
    // A replay has learned nothing of the model, whatever turns before this one taught.
    await harness.database`delete from model_facts`;
    await harness.runTask(question, { conversationId });
    const stored = await harness.database<StoredPass[]>`
    select c.form, c.reason, c.tokens_before, c.tokens_after, c.first_kept_sequence,
      (select count(*)::int from compaction_operations o where o.compaction_id = c.id and o.kind = 'clip') as clips,
      (select count(*)::int from compaction_operations o where o.compaction_id = c.id and o.kind = 'clear') as clears,
      (select count(*)::int from compaction_parts p where p.compaction_id = c.id) as parts
    from compactions c where c.conversation_id = ${conversationId} and c.status = 'committed' order by c.number`;
    expect(stored).toHaveLength(1);
    expect(stored[0]).toMatchObject({
      form: pass?.form,
      reason: pass?.reason,
      firstKeptSequence: pass?.firstKeptSequence,
      clips: pass?.operations.clip,
      clears: pass?.operations.clear,
      parts: pass?.parts,
    });
    // A replay takes its own estimates for the provider's counts, each rounded up.
    const difference = (stored[0]?.tokensBefore ?? 0) - (pass?.tokensBefore ?? 0);
    expect(Math.abs(difference)).toBeLessThanOrEqual(tolerance);
    await expectLedger(conversationId);
  },
);

/** Below a summary that dropped results stands where each can be had; what is only shortened in the view says so itself. */
async function expectLedger(conversationId: string): Promise<void> {
  const [pass] = await harness.database<{ summary: string | null; firstKept: number; covered: number }[]>`
    select summary, first_kept_sequence as first_kept, covered_through_sequence as covered from compactions
    where conversation_id = ${conversationId} and status = 'committed'`;
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 1_000 });
  const results = entries.filter(({ kind }) => kind === 'tool_result');
  const left = results.filter(({ sequence }) => sequence < (pass?.firstKept ?? 0));
  const ledger = /<earlier-results>\n.*\n([\s\S]*?)\n<\/earlier-results>/.exec(pass?.summary ?? '')?.[1];
  const lines = ledger?.split('\n') ?? [];
  expect(lines.length >= Math.min(8, left.length)).toBe(true);
  lines.forEach((line, index) => {
    const [, letter, id] = /^read_file letters\/(\d+)\.txt: [\d,]+ characters \(([0-9a-f-]{36})\)$/.exec(line) ?? [];
    expect(id).toBe(left.at(index - lines.length)?.entryId);
    expect(JSON.stringify(left.find((entry) => entry.entryId === id)?.content)).toContain(`REF_${letter}_7781`);
  });
}

test('the lab finds by recall what recall_search finds', async () => {
  const file = await writeSession(directory, 'recall.jsonl', generateSession('support', 3, 25));
  const conversationId = await importAs(file, 'default');
  const loaded = await loadSessions(file);
  const [session] = loaded.sessions;
  if (session === undefined) throw new Error('no session');
  const pool = poolFacts(session, 1).slice(0, 400);
  const cues = pool.filter((_, index) => index % 20 === 0).map((fact) => fact.cue);
  const search = new RecallSearch(session, cues);
  let same = 0;
  for (const cue of cues) {
    const found = await searchMemory(harness.database, { conversationId, query: cue, limit: 5 });
    if (found[0]?.text === search.search(cue)[0]) same += 1;
  }
  loaded.close();
  expect(cues.length).toBeGreaterThan(10);
  // A cue that stands in a text as it is counts first in the product; the lab does not look for that.
  expect(same / cues.length).toBeGreaterThan(0.8);
});
