import { estimateTokens, NO_CALIBRATION } from '../../context/estimate.ts';
import { projectView } from '../../context/project-view.ts';
import { textOf } from '../../context/content.ts';
import type { View } from '../../context/view.ts';
import { entryText } from '../../store/entry-text.ts';
import { withoutSummaries } from '../facts/fact-survival.ts';
import { RecallSearch } from '../facts/recall-search.ts';
import type { LabAgent } from '../replay/lab-agent.ts';
import type { LabConversation } from '../replay/lab-conversation.ts';
import { replaySession } from '../replay/replay-session.ts';
import type { LabSession } from '../session/lab-session.ts';
import type { Plant, PlantKind } from './planted-session.ts';
import { sampleOriginals } from './sample-originals.ts';

/** Lines of originals that are asked for each time. */
const ORIGINALS_ASKED = 60;

/** Texts that one recall call shows, best first, of entries up to a position of the session. */
export type RecallOnce = (question: string, throughPosition: number) => Promise<readonly string[]>;

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
   * The answer would be an old value: the view says that one and not the newer, or says neither and the first passage of recall
   * that says either says the old one.
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
  /** Lines of originals of any role, drawn by chance, that one recall call finds by their own words. */
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
  readonly session: LabSession;
  readonly agent: LabAgent;
  readonly plants: readonly Plant[];
  readonly passes: readonly number[];
  readonly recall: RecallOnce;
  /** Decides which originals are asked for. */
  readonly seed: number;
}): Promise<readonly FidelityFigures[]> {
  const { session, agent, plants, passes, recall, seed } = input;
  const places = plants.map((plant) => ({ plant, position: positionOf(session, plant.value) }));
  const figures: FidelityFigures[] = [];
  const noFacts = { pool: [], search: new RecallSearch(session, []), size: 1 };
  await replaySession(session, agent, noFacts, async (number, conversation) => {
    if (!passes.includes(number)) return;
    const through = Math.max(-1, ...conversation.entries.map((entry) => conversation.positionOf(entry) ?? -1));
    const asked = places.filter(({ position }) => position <= through).map(({ plant }) => plant);
    const originals = await askForOriginals({ session, through, recall, seed: seed + number });
    figures.push(await askAll({ agent, asked, through, recall, conversation, passes: number, originals }));
  });
  return figures;
}

function positionOf(session: LabSession, value: string): number {
  for (const position of session.entries.keys()) {
    if (entryText(session.content(position)).includes(value)) return position;
  }
  return Infinity;
}

async function askForOriginals(of: {
  readonly session: LabSession;
  readonly through: number;
  readonly recall: RecallOnce;
  readonly seed: number;
}): Promise<FidelityFigures['originals']> {
  const { session, through, recall, seed } = of;
  const sampled = sampleOriginals(session, { through, count: ORIGINALS_ASKED, seed });
  let reachable = 0;
  for (const { line } of sampled) {
    const passages = await recall(line, through);
    if (passages.some((passage) => passage.includes(line))) reachable += 1;
  }
  return { asked: sampled.length, reachable };
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
  readonly conversation: LabConversation;
  readonly asked: readonly Plant[];
  readonly through: number;
  readonly recall: RecallOnce;
  readonly passes: number;
  readonly originals: FidelityFigures['originals'];
}): Promise<FidelityFigures> {
  const { agent, conversation, asked, through, recall, passes, originals } = of;
  const view = projectView(conversation.projectionInput(agent));
  const found = new Map<Plant, readonly string[]>();
  for (const plant of asked) found.set(plant, await recall(plant.question, through));
  const answersOf = (shown: View, recalls: boolean): Answer[] => {
    const text = viewText(shown);
    return asked.map((plant) => answerTo(plant, text, recalls ? (found.get(plant) ?? []) : []));
  };
  const answers = answersOf(view, true);
  const ofKind = (kind: PlantKind): PlantFigures => count(answers.filter((answer) => answer.kind === kind));
  const text = viewText(view);
  const rules = agent.view.rules.filter((rule) => view.system.includes(rule)).length;
  const messages = newestUserMessages(agent, conversation);
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
  if (stale === null || inView) return answer;
  // Who finds a value in the view looks no further.
  if (view.includes(stale)) return { ...answer, stale: true };
  const first = passages.find((passage) => passage.includes(value) || passage.includes(stale));
  return { ...answer, stale: first !== undefined && !first.includes(value) };
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

function viewText({ system, messages }: View): string {
  const texts = messages.flatMap((message) =>
    message.role === 'tool_results'
      ? message.results.map(({ content }) => entryText(content))
      : [entryText(message.content)],
  );
  return [system, ...texts].join('\n');
}

/** As many of the newest as the budget for them holds. */
function newestUserMessages({ budget }: LabAgent, conversation: LabConversation): readonly string[] {
  const messages: string[] = [];
  let tokens = 0;
  for (const entry of conversation.entries.toReversed()) {
    if (entry.kind !== 'user') continue;
    tokens += estimateTokens(entry.measurements, NO_CALIBRATION);
    if (tokens > budget.userMessages) break;
    messages.push(textOf(conversation.content(entry)));
  }
  return messages;
}
