import type { Holdfast } from '../../client/holdfast.ts';
import type { TurnSummary } from '../../client/types.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { shortId } from '../find-conversation.ts';
import { interruptible } from '../interruption.ts';
import { describeError, errorLines } from '../describe-error.ts';
import type { Output } from '../output.ts';
import { nextCommand, turnFigures } from '../render/turn/outcome-words.ts';
import { wrapWords } from '../render/text/text-width.ts';
import type { TurnItem } from '../render/turn/turn-items.ts';
import { startState } from '../render/turn/turn-state.ts';
import { NO_DISPLAY, openDisplay } from './display.ts';
import type { Display } from './display.ts';
import { CHAT_COMMAND, listenForKeys, pinForm } from './keys.ts';
import { followTurn, readEndedTurn } from './follow-turn.ts';
import type { FollowedTurn, FollowOptions } from './follow-turn.ts';

export interface ShowTurnOptions extends Pick<FollowOptions, 'conversationId' | 'turnId' | 'afterTurnId'> {
  readonly json: boolean;
  /** Messages are typed above it and into it, so it shows neither them nor the command that goes on. Default: false. */
  readonly inChat?: boolean;
}

/** Shows a turn until it ends or the user leaves; sets the exit code. @returns id of the turn; `null`: the user left */
export async function showTurn(client: Holdfast, output: Output, options: ShowTurnOptions): Promise<string | null> {
  const { conversationId, json, inChat = false } = options;
  const conversation = shortId(conversationId);
  const { display, sent } = json
    ? { display: NO_DISPLAY, sent: () => Promise.resolve() }
    : openTurnScreen(client, output, { conversationId, inChat });
  const { result: followed, interrupted } = await interruptible(async (signal) => {
    try {
      return await followTurn({ ...options, client, display, signal });
    } finally {
      display.close();
    }
  });
  if (followed === null || interrupted) {
    leave(output, conversationId, json);
    return null;
  }
  await sent();
  const turn = await readEndedTurn(client, conversationId, followed.turnId);
  if (json)
    output.json({
      conversationId,
      turnId: followed.turnId,
      outcome: followed.outcome,
      reason: followed.reason,
      answer: followed.answer,
      turn,
    });
  else output.lines(endLines(output, followed, turn, inChat ? null : conversation));
  if (followed.outcome !== 'completed') process.exitCode = EXIT_CODES.turnNotCompleted.code;
  return followed.turnId;
}

interface TurnScreen {
  readonly display: Display;
  /** Waits until what was typed into the turn is stored. */
  readonly sent: () => Promise<void>;
}

/** The screen with its keys, which decide on calls that wait and, in a chat, send messages into the turn. */
function openTurnScreen(
  client: Holdfast,
  output: Output,
  { conversationId, inChat }: { readonly conversationId: string; readonly inChat: boolean },
): TurnScreen {
  const leaving = `Ctrl-C leaves it running · npx holdfast stop ${shortId(conversationId)}`;
  const screen = openDisplay(output, () => keys?.hint ?? leaving);
  let latest = startState(Date.now());
  const requests: Promise<unknown>[] = [];
  const print = (item: TurnItem): void => screen.show(latest, [item]);
  const tell = (text: string): void => print({ kind: 'notice', level: 'warning', text });
  const failed = (error: unknown): void => tell(errorLines(describeError(error)).join(' '));
  const send = (content: string): boolean => {
    const [command] = CHAT_COMMAND.exec(content) ?? [];
    if (command !== undefined) {
      tell(pinForm(command) ?? `${command} is answered between turns. To send such a line, begin it with a space.`);
      return false;
    }
    print({ kind: 'user', text: content });
    requests.push(client.conversation.send({ conversationId, content }).catch(failed));
    return true;
  };
  const effects = { failed, tell, ...(inChat && { send }) };
  const keys = output.repaints ? listenForKeys(client, conversationId, effects) : null;
  return {
    display: {
      ...screen,
      show(state, items) {
        latest = state;
        keys?.waiting(state.activity.kind === 'asking' ? state.activity.calls : []);
        screen.show(state, inChat ? items.filter(({ kind }) => kind !== 'user' && kind !== 'turn_begun') : items);
      },
      close() {
        keys?.close();
        screen.close();
      },
    },
    async sent() {
      await Promise.all(requests);
    },
  };
}

function leave(output: Output, conversationId: string, json: boolean): void {
  const conversation = shortId(conversationId);
  if (json) output.json({ conversationId, outcome: null, interrupted: true });
  else
    output.lines([
      '',
      `You left; the turn goes on.`,
      `  watch it again: npx holdfast watch ${conversation}`,
      `  stop it:        npx holdfast stop ${conversation}`,
    ]);
}

/** @param conversation named by the command that goes on; `null`: the chat goes on by itself */
function endLines(
  output: Output,
  { outcome, reason }: FollowedTurn,
  turn: TurnSummary | null,
  conversation: string | null,
): string[] {
  const { style } = output;
  const completed = outcome === 'completed';
  const mark = completed ? style.green('✓') : style.red('✗');
  const figures = turn === null ? [] : wrapped(turnFigures(turn), output);
  const next = conversation === null ? null : nextCommand(outcome, reason, conversation, turn);
  return [
    '',
    `${mark} ${style.bold(outcome.replaceAll('_', ' '))}`,
    ...figures.map((line) => style.dim(line)),
    ...(turn?.explanation == null || (completed && reason === null) ? [] : wrapped(turn.explanation, output)),
    ...(next === null ? [] : [`  next: ${next}`]),
  ];
}

function wrapped(text: string, output: Output): string[] {
  return wrapWords(`  ${text}`, output.columns, '  ');
}
