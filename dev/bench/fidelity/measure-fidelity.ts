import { projectView } from '../../../src/context/view/project-view.ts';
import { textOf } from '../../../src/context/log/content.ts';
import type { View } from '../../../src/context/view/view.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { listEntries } from '../../../src/store/log/entries.ts';
import { readableEntryText } from '../../../src/store/log/entry-text.ts';
import { withoutSummaries } from '../../../packages/lab/src/facts/fact-survival.ts';
import { RecallSearch } from '../../../packages/lab/src/facts/recall-search.ts';
import type { LabAgent } from '../../../packages/lab/src/replay/lab-agent.ts';
import type { ReplayedConversation } from '../../../packages/lab/src/replay/replayed-conversation.ts';
import { replaySession } from '../../../packages/lab/src/replay/replay-session.ts';
import type { LabSession } from '../../../packages/lab/src/session/lab-session.ts';
import { ExpectedUserMessages } from './expected-user-messages.ts';
import type { Plant, PlantKind } from './planted-session.ts';
import { sampleOriginals } from './sample-originals.ts';

/** Originals that are asked for before the last of the passes, where every one is. */
const ORIGINALS_ASKED = 60;

/** More than a replay has. */
const EVERY_ENTRY = 100_000;

/** A passage of a summary, as `recall_search` heads it: what repeats an original is not the original. */
const OF_SUMMARY = /^entry \S+ · (?:branch_)?summary /u;

/** Passages as one recall call shows them, best first. */
export type RecallOnce = (question: string) => Promise<readonly string[]>;

/** What a worker would have stored until a compaction was committed. */
export interface StoredUntil {
  /** Position in the session of the newest entry. */
  readonly through: number;
  /** Of all compactions so far, oldest first. */
  readonly summaries: readonly string[];
}

/** Counts over plants. */
export interface PlantFigures {
  readonly asked: number;
  readonly inView: number;
  /** Found by one recall call in the plant's own words. */
  readonly reachable: number;
  readonly inViewOrReachable: number;
  /** Of those asked, updates and contradictions: only these have an old value. */
  readonly changed: number;
  /**
   * The answer would be an old value: the view says that one last, or says neither and the first passage of recall that says either
   * says the old one last.
   */
  readonly stale: number;
}

export interface FidelityFigures extends PlantFigures {
  readonly preset: string;
  /** Compactions until then. */
  readonly passes: number;
  readonly byKind: Readonly<Record<PlantKind, PlantFigures>>;
  /** Of the agent's own rules, verbatim in the request. */
  readonly rules: { readonly asked: number; readonly inView: number };
  /** Of the newest messages of the user that the preset's budget for them holds, verbatim in the request. */
  readonly userMessages: { readonly asked: number; readonly inView: number };
  /** Originals of any role that one recall call finds by their own words: after the last pass every one, before it some by chance. */
  readonly originals: { readonly asked: number; readonly reachable: number };
  /** The same with every summary emptied. */
  readonly withoutSummaries: PlantFigures;
  /** The same with recall off. */
  readonly withoutRecall: PlantFigures;
}

/**
 * Replays a planted session under a preset and asks for what was planted after so many compactions.
 * @returns one line for each of `passes` that the session reached
 */
export async function measureFidelity(input: {
  /** Where the session is replayed. */
  readonly database: Database;
  readonly session: LabSession;
  readonly agent: LabAgent;
  readonly plants: readonly Plant[];
  readonly passes: readonly number[];
  /** Recall over what was stored until then, summaries included. */
  readonly openRecall: (stored: StoredUntil) => Promise<RecallOnce>;
  /** Decides which originals are asked for. */
  readonly seed: number;
}): Promise<readonly FidelityFigures[]> {
  const { database, session, agent, plants, passes, openRecall, seed } = input;
  const places = plants.map((plant) => ({ plant, position: positionOf(session, plant.value) }));
  const figures: FidelityFigures[] = [];
  const noFacts = { pool: [], search: new RecallSearch(session, []), size: 1 };
  const expected = new ExpectedUserMessages(agent.budget.userMessages);
  const summaries: string[] = [];
  await replaySession(database, session, agent, noFacts, async (number, conversation) => {
    const { summary } = await conversation.projectionInput();
    if (summary !== null && summary.text !== summaries.at(-1)) summaries.push(summary.text);
    const { conversationId } = conversation;
    const entries = await listEntries(database, { conversationId, after: 0, limit: EVERY_ENTRY });
    const kept = new Set(expected.after({ entries, summary }));
    if (!passes.includes(number)) return;
    const userMessages = entries.flatMap(({ sequence, content }) => (kept.has(sequence) ? [textOf(content)] : []));
    const through = conversation.appended - 1;
    const asked = places.filter(({ position }) => position <= through).map(({ plant }) => plant);
    const recall = await openRecall({ through, summaries });
    const count = number === Math.max(...passes) ? Infinity : ORIGINALS_ASKED;
    const originals = await askForOriginals({ session, through, recall, count, seed: seed + number });
    figures.push(await askAll({ agent, asked, recall, conversation, passes: number, originals, userMessages }));
  });
  return figures;
}

function positionOf(session: LabSession, value: string): number {
  for (const position of session.entries.keys()) {
    if (readableEntryText(session.content(position)).includes(value)) return position;
  }
  return Infinity;
}

async function askForOriginals(of: {
  readonly session: LabSession;
  readonly through: number;
  readonly recall: RecallOnce;
  readonly count: number;
  readonly seed: number;
}): Promise<FidelityFigures['originals']> {
  const { session, through, recall, count, seed } = of;
  const sampled = sampleOriginals(session, { through, count, seed });
  let reachable = 0;
  for (const { asked, wanted } of sampled) {
    const originals = (await recall(asked)).filter((passage) => !OF_SUMMARY.test(passage));
    if (originals.some((passage) => plain(passage).includes(plain(wanted)))) reachable += 1;
  }
  return { asked: sampled.length, reachable };
}

function plain(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

export interface Answer {
  readonly kind: PlantKind;
  readonly inView: boolean;
  readonly reachable: boolean;
  /** The plant has an old value. */
  readonly isChanged: boolean;
  /** The old value would be answered. */
  readonly stale: boolean;
}

async function askAll(of: {
  readonly agent: LabAgent;
  readonly conversation: ReplayedConversation;
  readonly asked: readonly Plant[];
  readonly recall: RecallOnce;
  readonly passes: number;
  readonly originals: FidelityFigures['originals'];
  /** That must be in the view. */
  readonly userMessages: readonly string[];
}): Promise<FidelityFigures> {
  const { agent, conversation, asked, recall, passes, originals } = of;
  const view = projectView(await conversation.projectionInput());
  const found = new Map<Plant, readonly string[]>();
  for (const plant of asked) found.set(plant, await recall(plant.question));
  const answersOf = (shown: View, recalls: boolean): Answer[] => {
    const text = viewText(shown);
    return asked.map((plant) => answerTo(plant, text, recalls ? (found.get(plant) ?? []) : []));
  };
  const answers = answersOf(view, true);
  const ofKind = (kind: PlantKind): PlantFigures => count(answers.filter((answer) => answer.kind === kind));
  const text = viewText(view);
  const rules = agent.view.rules.filter((rule) => view.system.includes(rule)).length;
  const messages = of.userMessages;
  return {
    preset: agent.policy.name,
    passes,
    ...count(answers),
    byKind: {
      fact: ofKind('fact'),
      rule: ofKind('rule'),
      decision: ofKind('decision'),
      path: ofKind('path'),
      update: ofKind('update'),
      contradiction: ofKind('contradiction'),
    },
    rules: { asked: agent.view.rules.length, inView: rules },
    userMessages: { asked: messages.length, inView: messages.filter((message) => text.includes(message)).length },
    originals,
    withoutSummaries: count(answersOf(withoutSummaries(view), true)),
    withoutRecall: count(answersOf(view, false)),
  };
}

/** What would be answered from the text of a view and, when it says nothing, from the passages of one recall call, best first. */
export function answerTo({ kind, value, stale }: Plant, view: string, passages: readonly string[]): Answer {
  const inView = view.includes(value);
  const reachable = passages.some((passage) => passage.includes(value));
  const answer = { kind, inView, reachable, isChanged: stale !== null, stale: false };
  if (stale === null) return answer;
  // Who finds a value in the view looks no further, and believes what is said last.
  const place = [view, ...passages].find((text) => text.includes(value) || text.includes(stale));
  return { ...answer, stale: place !== undefined && saysLast(place, { value, stale }) === 'stale' };
}

/** Which of both a text says last. A line that says both tells of the change. */
function saysLast(text: string, { value, stale }: { readonly value: string; readonly stale: string }) {
  const line = text.split('\n').findLast((each) => each.includes(value) || each.includes(stale));
  return line?.includes(value) === true ? 'value' : 'stale';
}

function count(answers: readonly Answer[]): PlantFigures {
  return {
    asked: answers.length,
    inView: answers.filter(({ inView }) => inView).length,
    reachable: answers.filter(({ reachable }) => reachable).length,
    inViewOrReachable: answers.filter(({ inView, reachable }) => inView || reachable).length,
    changed: answers.filter(({ isChanged }) => isChanged).length,
    stale: answers.filter(({ stale }) => stale).length,
  };
}

export function viewText({ system, messages }: View): string {
  const texts = messages.flatMap((message) =>
    message.role === 'tool_results'
      ? message.results.map(({ content }) => readableEntryText(content))
      : [readableEntryText(message.content)],
  );
  return [system, ...texts].join('\n');
}
