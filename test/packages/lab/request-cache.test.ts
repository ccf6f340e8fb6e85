import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRESETS } from '../../../src/config/presets.ts';
import type { Entry } from '../../../src/context/log/entry.ts';
import { projectView } from '../../../src/context/view/project-view.ts';
import type { View } from '../../../src/context/view/view.ts';
import { generateSession } from '../../../dev/bench/generated/generate-session.ts';
import { createLabAgent } from '../../../packages/lab/src/replay/lab-agent.ts';
import type { LabAgent } from '../../../packages/lab/src/replay/lab-agent.ts';
import type { ReplayedConversation } from '../../../packages/lab/src/replay/replayed-conversation.ts';
import { prepareFacts } from '../../../packages/lab/src/replay/replay-facts.ts';
import { replaySession } from '../../../packages/lab/src/replay/replay-session.ts';
import { requestPieces } from '../../../packages/lab/src/replay/request-cache.ts';
import { loadSessions } from '../../../packages/lab/src/session/lab-session.ts';
import type { LoadedFile } from '../../../packages/lab/src/session/lab-session.ts';
import { createModelClients } from '../../../src/models/model-clients.ts';
import { startSimulator } from '../../../packages/simulator/src/index.ts';
import { preset, useLab, writeSession } from './lab-harness.ts';

const { openDatabase, replay } = useLab();

let directory: string;
let coding: LoadedFile;
let simulator: Awaited<ReturnType<typeof startSimulator>>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-cache-'));
  coding = await loadSessions(await writeSession(directory, 'coding.jsonl', generateSession('coding', 7, 18)));
  simulator = await startSimulator();
});

afterAll(async () => {
  coding.close();
  await simulator.close();
  await rm(directory, { recursive: true });
});

function agentUnder(name: string): LabAgent {
  const prices = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
  const limits = { window: 16_000, maximumOutput: 4_096 };
  const clients = createModelClients([
    { name: 'simulator', protocol: 'anthropic', baseUrl: simulator.url, apiKey: null },
  ]);
  return createLabAgent({
    view: { instructions: 'You change programs.', rules: [], tools: [] },
    policy: preset(name),
    limits,
    prices,
    summarizer: { model: 'simulator/sim-16k', limits, prices, client: clients('simulator'), isAgentsOwn: true },
  });
}

/** What a view shows, message by message: `summary`, or the id that stands for an entry's text. */
function namesIn(view: View): string[] {
  const names = view.messages.flatMap((message) => {
    if (message.role === 'tool_results') return message.results.map((result) => idIn(result.content));
    const isSummary = message.role === 'assistant' ? message.turnId === '' : message.origin === 'summary';
    return [isSummary ? 'summary' : idIn(message.content)];
  });
  // With a question before it the summary takes two messages.
  return names.filter((name, index) => name !== 'summary' || names[index - 1] !== 'summary');
}

function idIn(content: Entry['content']): string {
  const text = content.findLast((part) => part.type === 'text');
  return text?.type === 'text' ? text.text : '';
}

/** The order of `projectView`, for entries whose text is their id and which nothing shortens. */
async function orderOfView(conversation: ReplayedConversation): Promise<string[]> {
  const input = await conversation.projectionInput();
  const policy = { ...input.policy, requestStubs: null };
  const entries = input.entries.map((entry) => ({
    ...entry,
    content: [{ type: 'text' as const, text: entry.id }, ...entry.content.filter((part) => part.type === 'tool_call')],
  }));
  const notes = new Set(entries.filter(({ kind }) => kind === 'note').map(({ id }) => id));
  const operations = input.operations.filter(({ entryId }) => notes.has(entryId));
  return namesIn(projectView({ ...input, policy, entries, operations }));
}

/** The orders of all requests right after a pass. */
async function ordersUnder(name: string): Promise<{ readonly pieces: string[]; readonly view: string[] }[]> {
  const [session] = coding.sessions;
  if (session === undefined) throw new Error('no session');
  const agent = agentUnder(name);
  const orders: { pieces: string[]; view: string[] }[] = [];
  const facts = prepareFacts(session, { seed: 1, size: 5 });
  await replaySession(await openDatabase(), session, agent, facts, async (_number, conversation) => {
    const view = await conversation.view();
    const [first, ...pieces] = requestPieces(agent, conversation, view, new Map()).map((piece) => piece.name);
    expect(first).toBe('fixed');
    orders.push({ pieces, view: await orderOfView(conversation) });
  });
  return orders;
}

describe('the pieces of a request stand in the order of the view', () => {
  test.each(Object.keys(PRESETS))('under preset %s', async (name) => {
    const orders = await ordersUnder(name);
    expect(orders.length).toBeGreaterThan(0);
    for (const { pieces, view } of orders) expect(pieces).toEqual(view);
    const places = new Set(orders.map(({ pieces }) => pieces.indexOf('summary')).filter((place) => place >= 0));
    expect(places.size, 'a pass with a summary').toBeGreaterThan(0);
    if (name === 'cowork') expect([...places], 'behind the first message').toEqual([1]);
    else if (name === 'wolffish') expect(Math.min(...places), 'behind what it stands for').toBeGreaterThan(1);
    else if (name === 'default') expect(Math.max(...places), 'behind what the user said before').toBeGreaterThan(0);
    else expect([...places]).toEqual([0]);
  });
});

test('a summary is asked behind the last request where a turn asks so, and has that from the cache', async () => {
  const talk = Array.from({ length: 45 }, (_, index) => [
    { role: 'user', content: `What stands in clause ${index}?` },
    { role: 'assistant', content: `Clause ${index} says this. ${`Party ${index} pays on day ${index}. `.repeat(45)}` },
  ]);
  const file = await writeSession(directory, 'shared.jsonl', talk.flat());
  const apart = { ...preset('default'), name: 'apart', summary: { ...preset('default').summary, sharesPrefix: null } };
  const policies = [preset('default'), apart];
  const { replays, presets } = await replay(file, {
    windows: [16_000],
    policies,
    prices: 'anthropic/claude-sonnet-5-5',
  });
  const [behind = [], transcripts = []] = replays.map(({ summaryCalls }) => summaryCalls);
  const shared = behind.filter(({ request }) => request === 'shared_prefix');
  expect(shared.length).toBeGreaterThan(0);
  for (const { usage } of shared) {
    expect(usage?.cacheRead).toBeGreaterThan((usage?.input ?? 0) * 0.5);
    expect(usage?.cacheWrite).toBe((usage?.input ?? 0) - (usage?.cacheRead ?? 0));
  }
  expect(transcripts.length).toBeGreaterThan(0);
  for (const call of transcripts) expect(call).toMatchObject({ request: 'transcript', usage: { cacheRead: 0 } });
  const [ofBehind, ofTranscripts] = presets;
  expect(ofBehind?.summaryInputTokens).toBeGreaterThan(ofTranscripts?.summaryInputTokens ?? 0);
  expect(ofBehind?.cost).toBeLessThan(ofTranscripts?.cost ?? 0);
});
