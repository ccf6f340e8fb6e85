import { readAnswer } from '../../store/attempts/model-calls.ts';
import type { CloseToolCall, OpenToolCall, PartialToolOutput } from '../../store/attempts/tool-calls.ts';
import { newText } from '../../store/log/entries.ts';
import type { NewContent } from '../../store/log/entries.ts';
import { requestDecisions as request } from '../../store/messages/decisions.ts';
import type { WantedDecision, Decision, DecisionKind } from '../../store/messages/decisions.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import { ASK_USER } from '../../tools/runtime/names.ts';
import { maskText } from '../../tools/runtime/secret-mask.ts';
import { parseToolArguments } from '../../tools/runtime/tool-input.ts';
import type { ToolDefinition } from '../../tools/tool.ts';
import type { RequestDecisionsInput, RequestDecisionsResult } from '../../turn/activity-values.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import {
  DECISION_EXPIRES_AFTER_SECONDS,
  mayFallUnder,
  ownRuleName,
  ruleName,
  rulesFor,
} from '../../turn/approval-rules.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { LackedHere, lacksTool, takeOn } from '../runtime/failures.ts';

/**
 * Finds the calls of an answer that need a decision and stores that they wait. Asked again after a decision or an expiry, it returns what
 * still waits.
 */
export async function requestDecisions(
  dependencies: ActivityDependencies,
  { turn, callNumber, runnable }: RequestDecisionsInput,
  execution: Execution,
): Promise<RequestDecisionsResult> {
  const { database } = dependencies;
  const [answer, { snapshot }] = await Promise.all([
    readAnswer(database, { turn, callNumber }),
    readSnapshot(database, turn.turnId),
  ]);
  const wanted: WantedDecision[] = [];
  let lacking: string | null = null;
  for (const part of answer?.content ?? []) {
    if (part.type !== 'tool_call' || part.index >= runnable) continue;
    if (lacksTool(dependencies, snapshot, part.name)) lacking ??= part.name;
    const call = { name: part.name, argumentsText: part.arguments };
    const decision = await wantedDecision(dependencies, snapshot, call);
    if (decision !== null) wanted.push({ callIndex: part.index, tool: part.name, ...decision });
  }
  const open = await request(database, {
    turn,
    callNumber,
    agent: snapshot.agent,
    expiresAfterSeconds: snapshot.approvals?.expiresAfterSeconds ?? DECISION_EXPIRES_AFTER_SECONDS,
    wanted,
  });
  // Only the tool itself knows whether its call asks. While other calls wait, this one need not be known.
  if (lacking !== null && open.waiting === 0) throw new LackedHere({ needs: 'tool', name: lacking });
  await takeOn(dependencies, turn, execution.attempt);
  return open;
}

/** Whether a call of this tool may need a decision. This worker's version of the tool may ask where that of the turn did not. */
export function mayAsk({ tools: known }: Pick<ActivityDependencies, 'tools'>, snapshot: AgentSnapshot, name: string) {
  const { tools, toolTraits, approvals } = snapshot;
  if (!tools.some((tool) => tool.name === name)) return false;
  const asks = toolTraits?.[name]?.asks === true || (known.get(name)?.approval ?? false) !== false;
  return name === ASK_USER || asks || mayFallUnder(approvals?.rules ?? [], name);
}

/** The decision that a call needs and why; `null` if none. A call that cannot run, such as one with wrong arguments, needs none. */
export async function wantedDecision(
  dependencies: Pick<ActivityDependencies, 'tools'>,
  snapshot: AgentSnapshot,
  call: { readonly name: string; readonly argumentsText: string },
): Promise<{ readonly kind: DecisionKind; readonly rules: readonly string[] } | null> {
  const tool = dependencies.tools.get(call.name);
  if (tool === undefined || !mayAsk(dependencies, snapshot, call.name)) return null;
  const parsed = await parseToolArguments(tool, call.argumentsText);
  if (!parsed.ok) return null;
  if (call.name === ASK_USER) return { kind: 'question', rules: [ASK_USER] };
  const fitting = rulesFor(snapshot.approvals?.rules ?? [], { tool: call.name, input: parsed.input });
  const rules = new Set(fitting.map(ruleName));
  if (asksByItself(tool, parsed.input)) rules.add(ownRuleName(call.name));
  return rules.size === 0 ? null : { kind: 'approval', rules: [...rules] };
}

/** A check that fails asks, because in doubt a person decides. */
function asksByItself({ approval }: ToolDefinition, input: unknown): boolean {
  if (typeof approval !== 'function') return approval === true;
  try {
    return approval(input);
  } catch {
    return true;
  }
}

/** The result of a call that does not run. */
export interface DecidedResult {
  readonly text: string;
  readonly answered: boolean;
  /** Compared instead of `text`. */
  readonly comparedBy?: string;
}

/** The result that a decision gives a call instead of running it; `null` if it may run. */
export function resultOfDecision(decision: Decision | null): DecidedResult | null {
  if (decision === null) {
    return refused('This call needs the approval of the user, who was not asked. Make it again if it is still needed.');
  }
  const { state, kind, text } = decision;
  switch (state) {
    case 'approved':
      return null;
    case 'answered':
      return { text: text ?? '', answered: true };
    case 'denied':
      return refused(
        text === null
          ? 'The user denied this call: it did not run. Do not try the same by another way; go on without it, or say what is missing.'
          : `The user denied this call: it did not run. The reason: ${text}`,
      );
    case 'expired':
    case 'withdrawn':
    case 'waiting':
      return {
        ...refused(
          kind === 'question'
            ? `Nobody answered until ${decision.expiresAt}. Go on without the answer as far as you can, and say what you assumed.`
            : `Nobody allowed this call until ${decision.expiresAt}, which counts as a denial: it did not run. Go on without it, or say what is missing.`,
        ),
        // The time is different in each result, and nothing new.
        comparedBy: 'expired',
      };
  }
}

function refused(text: string): DecidedResult {
  return { text, answered: false };
}

const ADVICE = 'it may have taken effect wholly, partly or not at all. Check before you repeat it.';

const DURING: Readonly<Record<OpenToolCall['cause'], string>> = {
  stopped: 'The user stopped the turn',
  interrupted: 'The turn was interrupted',
  turn_ended: 'The turn ended',
};

/**
 * Writes the result of a call that nobody will finish, by which the model decides whether to repeat it. A person's decision is stated as
 * if the call had reached its result, with keys masked.
 */
export function closeToolCall({ secrets }: Pick<ActivityDependencies, 'secrets'>): CloseToolCall {
  return (call) => {
    const decided = resultOfDecision(call.decision);
    if (call.decision !== null && decided !== null) return newText(maskText(decided.text, secrets));
    return newText(`${fate(call)} ${advice(call)}${outputKnown(call.partialOutput)}`);
  };
}

function fate(call: OpenToolCall): string {
  if (call.state === 'requested') {
    return call.cause === 'stopped'
      ? 'The user stopped the turn before this call was made: it did not run.'
      : 'The turn ended before this call was made: it did not run.';
  }
  const since = call.claimedAt === null ? '' : ` that began at ${call.claimedAt}`;
  return `${DURING[call.cause]} during this call${since}.`;
}

function advice(call: OpenToolCall): string {
  return call.state === 'requested' ? 'Call it again if it is still needed.' : `Outcome unknown: ${ADVICE}`;
}

/** A claimed call that is not run again. */
interface UnknownOutcome {
  readonly claimedAt: string;
  /** Claims whose workers died. */
  readonly attempt: number;
  readonly partialOutput: PartialToolOutput | null;
}

/** What the model reads if Temporal lost a call's worker and the call is not run again. */
export function unknownOutcome({ claimedAt, attempt, partialOutput }: UnknownOutcome): NewContent {
  const died =
    attempt === 1
      ? 'the process that ran it died, or was lost sight of, before it could report'
      : `the process that ran it died, ${attempt} times in a row; it is not tried again`;
  return newText(
    `Outcome unknown: this call began at ${claimedAt} and ${died}. It${ADVICE.slice(2)}${outputKnown(partialOutput)}`,
  );
}

function outputKnown(partial: PartialToolOutput | null): string {
  return partial === null ? '' : `\n\nUntil ${partial.at} it had written ${partial.bytes} bytes:\n${partial.text}`;
}
