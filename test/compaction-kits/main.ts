import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { viewText } from '../../dev/bench/fidelity/measure-fidelity.ts';
import { generateSession } from '../../dev/bench/generated/generate-session.ts';
import { agentFor, openSummarizer } from '../../dev/bench/memory/fidelity-of-presets.ts';
import { RecallSearch } from '../../packages/lab/src/facts/recall-search.ts';
import { withoutSummaries } from '../../packages/lab/src/facts/fact-survival.ts';
import type { Database } from '../../src/store/database/database.ts';
import { openLabStore } from '../../packages/lab/src/lab-store.ts';
import { replaySession } from '../../packages/lab/src/replay/replay-session.ts';
import { loadSessions } from '../../packages/lab/src/session/lab-session.ts';
import { startSimulator } from '../../packages/simulator/src/server.ts';
import { PRESETS } from '../../src/config/presets.ts';
import type { CompactionPolicy } from '../../src/context/policy/policy.ts';
import { projectView } from '../../src/context/view/project-view.ts';

/**
 * `npm run test:compaction-kits`: how much of what two published kits plant is kept after 1, 5 and 10 compactions, as they judge it.
 * Their own sessions fill no window, so each stands at the beginning of a long generated one. Ends with 1 where `default` keeps less
 * than everything.
 */
const PROGRAM = fileURLToPath(new URL('../../scripts/compaction-kits/kits.py', import.meta.url));
const SEED = 7;
/** Answers of the agent in the session, about: enough for ten compactions of a window of 32,000 tokens. */
const STEPS = 700;
const PASSES = [1, 5, 10];
const WAYS = ['in view', 'in view or recall', 'in view, without summaries'] as const;

const kitCases = z.array(
  z.object({
    name: z.string(),
    turns: z.array(z.object({ role: z.string(), text: z.string() })),
    questions: z.array(z.string()),
  }),
);
type KitCase = z.output<typeof kitCases>[number];
const judgements = z.array(z.record(z.string(), z.record(z.string(), z.array(z.number()))));

function askKits(command: 'cases' | 'judge', input = ''): unknown {
  const python = process.env['HOLDFAST_KITS_PYTHON'];
  if (python === undefined) throw new Error('This needs two Python packages: run `npm run test:compaction-kits`.');
  const { status, stdout, stderr } = spawnSync(python, [PROGRAM, command, String(SEED)], {
    input,
    encoding: 'utf8',
    maxBuffer: 500_000_000,
  });
  if (status !== 0) throw new Error(`The kits ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/** The kit's turns, and behind them an agent's work of many windows. */
function longSession({ turns }: KitCase): string {
  const said = turns.filter(({ role }) => role !== 'system').map(({ role, text }) => ({ role, content: text }));
  const [instructions, ...work] = generateSession('coding', SEED, STEPS);
  return [instructions, ...said, ...work].map((message) => JSON.stringify(message)).join('\n');
}

/** What is in reach after some compactions, by way. */
async function replay(
  database: Database,
  kitCase: KitCase,
  policy: CompactionPolicy,
  simulatorUrl: string,
  directory: string,
) {
  const file = join(directory, 'session.jsonl');
  await writeFile(file, longSession(kitCase));
  const loaded = await loadSessions(file);
  try {
    const [session] = loaded.sessions;
    if (session === undefined) throw new Error('the session is empty');
    const agent = agentFor(policy, [], openSummarizer(simulatorUrl));
    const search = new RecallSearch(session, kitCase.questions);
    const found = kitCase.questions.flatMap((question) => search.search(question)).join('\n');
    const noFacts = { pool: [], search: new RecallSearch(session, []), size: 1 };
    const texts: Record<string, string> = {};
    await replaySession(database, session, agent, noFacts, async (number, conversation) => {
      if (!PASSES.includes(number)) return;
      const view = projectView(await conversation.projectionInput());
      const shown = [viewText(view), `${viewText(view)}\n${found}`, viewText(withoutSummaries(view))];
      for (const [index, way] of WAYS.entries()) texts[`${way}, ${number}`] = shown[index] ?? '';
    });
    return { case: kitCase.name, texts };
  } finally {
    loaded.close();
  }
}

function percent(values: readonly number[]): string {
  return values.length === 0
    ? '–'
    : `${Math.round((100 * values.reduce((sum, each) => sum + each, 0)) / values.length)}`;
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-kits-'));
  const [simulator, store] = await Promise.all([startSimulator(), openLabStore(process.env)]);
  try {
    const cases = kitCases.parse(askKits('cases'));
    for (const [preset, policy] of Object.entries(PRESETS)) {
      const replays = [];
      for (const kitCase of cases)
        replays.push(await replay(store.database, kitCase, policy, simulator.url, directory));
      const judged = judgements.parse(askKits('judge', JSON.stringify(replays)));
      process.stdout.write(`${tableOf(preset, cases, judged)}\n`);
      const isWhole = judged.every((texts) =>
        Object.values(texts).every((types) =>
          Object.values(types)
            .flat()
            .every((kept) => kept === 1),
        ),
      );
      if (preset === 'default' && !isWhole) process.exitCode = 1;
    }
  } finally {
    await Promise.all([simulator.close(), store.close()]);
    await rm(directory, { recursive: true });
  }
}

/** A row for each kit and type, a column for each way: per cent kept after 1 / 5 / 10 compactions. */
function tableOf(preset: string, cases: readonly KitCase[], judged: z.output<typeof judgements>): string {
  const rows = cases.flatMap(({ name }, index) => {
    const texts = judged[index] ?? {};
    const types = Object.keys(Object.values(texts)[0] ?? {});
    return types.map((type) => {
      const cells = WAYS.map((way) =>
        PASSES.map((pass) => percent(texts[`${way}, ${pass}`]?.[type] ?? [])).join(' / '),
      );
      return `| ${[name, type.replaceAll('_', ' '), ...cells].join(' | ')} |`;
    });
  });
  return [`\n## ${preset}\n`, `| kit | type | ${WAYS.join(' | ')} |`, '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

await main();
