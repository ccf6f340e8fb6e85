import type { TimelineEvent } from '../../../client/types.ts';
import { writeCallName } from '../../../turn/call-name.ts';
import { safeText } from '../text/safe-text.ts';
import { withTool, withoutTool } from './running-tools.ts';
import { shortArguments } from './tool-arguments.ts';
import type { Applied, TurnScreenState } from './turn-state.ts';

/** A tool call began to wait for a person, or was decided on. */
export function applyDecision(
  state: TurnScreenState,
  event: TimelineEvent<'decision_requested' | 'decision_made'>,
): Applied {
  return event.kind === 'decision_requested' ? decisionRequested(state, event) : decisionMade(state, event);
}

/** The call as people name it. */
export function callOf({ turn, ...place }: TimelineEvent<'decision_requested' | 'decision_made'>['data']): string {
  return writeCallName({ ...place, turnNumber: turn });
}

function decisionRequested(state: TurnScreenState, { data: tool }: TimelineEvent<'decision_requested'>): Applied {
  const call = callOf(tool);
  const { activity, conversation } = state;
  const calls = activity.kind === 'asking' ? activity.calls : [];
  const text = state.calls.get(`${tool.callNumber}:${tool.callIndex}`)?.arguments ?? '';
  // Whole: nobody can decide on half of a command.
  const words =
    tool.kind === 'question'
      ? `The agent asks (call ${call}): ${questionIn(text)} (answer it with \`npx holdfast answer ${conversation} "…" --call ${call}\`)`
      : `${tool.name} waits for your approval (call ${call}): ${safeText(text)} (decide with \`npx holdfast approve ${conversation} ${call}\`, or \`deny\`)`;
  return {
    state: { ...state, tools: withoutTool(state.tools, tool), activity: { kind: 'asking', calls: [...calls, call] } },
    items: [{ kind: 'notice', level: 'warning', text: words }],
  };
}

/** Of the arguments of `ask_user`, what it asks. */
export function questionIn(argumentsText: string): string {
  const question = /"question"\s*:\s*("(?:[^"\\]|\\.)*")/u.exec(argumentsText)?.[1];
  return question === undefined ? shortArguments(argumentsText, 2_000) : String(JSON.parse(question));
}

function decisionMade(state: TurnScreenState, { data: tool, createdAt }: TimelineEvent<'decision_made'>): Applied {
  const call = callOf(tool);
  const { decision, scope, decidedBy } = tool;
  const by = scope === 'standing' ? 'what stands for the agent' : decidedBy;
  const fate = by === undefined ? decision : `${decision} by ${by}`;
  const rest = state.activity.kind === 'asking' ? state.activity.calls.filter((other) => other !== call) : [];
  const tools = decision === 'approved' ? withTool(state, tool, Date.parse(createdAt)) : state.tools;
  return {
    state: { ...state, tools, activity: rest.length > 0 ? { kind: 'asking', calls: rest } : { kind: 'preparing' } },
    items: [{ kind: 'notice', level: 'information', text: `${tool.name} (call ${call}): ${fate}.` }],
  };
}
