import type { Holdfast } from '../../client/holdfast.ts';
import type { TurnSummary } from '../../client/types.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { shortId } from '../find-conversation.ts';
import { interruptible } from '../interruption.ts';
import { describeError, errorLines } from '../describe-error.ts';
import type { Output } from '../output.ts';
import { nextCommand, turnFigures } from '../render/turn/outcome-words.ts';
import { wrapWords } from '../render/text/text-width.ts';
import { NO_DISPLAY, openDisplay } from './display.ts';
import type { Display } from './display.ts';
import { listenForKeys } from './keys.ts';
import type { TurnKeys } from './keys.ts';
import { followTurn, readEndedTurn } from './follow-turn.ts';
import type { FollowedTurn, FollowOptions } from './follow-turn.ts';

export interface ShowTurnOptions extends Pick<FollowOptions, 'conversationId' | 'turnId' | 'afterTurnId'> {
  readonly json: boolean;
  /** The message was typed right above and the next one follows: neither is told. Default: false. */
  readonly inChat?: boolean;
}

/** Shows a turn until it ends or the user leaves; sets the exit code. */
export async function showTurn(client: Holdfast, output: Output, options: ShowTurnOptions): Promise<void> {
  const { conversationId, json } = options;
  const conversation = shortId(conversationId);
  const told = (error: unknown): void => output.remark(errorLines(describeError(error)).join('\n'));
  const keys = json || !output.repaints ? null : listenForKeys(client, conversationId, told);
  const leaving = `Ctrl-C leaves it running · npx holdfast stop ${conversation}`;
  const screen = json ? NO_DISPLAY : openDisplay(output, () => keys?.hint ?? leaving);
  const display = json ? screen : shownBy(screen, keys, options.inChat === true);
  const { result: followed, interrupted } = await interruptible(async (signal) => {
    try {
      return await followTurn({ ...options, client, display, signal });
    } finally {
      keys?.close();
      screen.close();
    }
  });
  if (followed === null || interrupted) {
    leave(output, conversationId, json);
    return;
  }
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
  else output.lines(endLines(output, conversation, followed, turn).slice(0, options.inChat === true ? 3 : undefined));
  if (followed.outcome !== 'completed') process.exitCode = EXIT_CODES.turnNotCompleted.code;
}

/** The screen, which also says which calls the keys decide on. */
function shownBy(screen: Display, keys: TurnKeys | null, inChat: boolean): Display {
  return {
    ...screen,
    show(state, items) {
      keys?.waiting(state.activity.kind === 'asking' ? state.activity.calls : []);
      screen.show(state, inChat ? items.filter(({ kind }) => kind !== 'user' && kind !== 'turn_begun') : items);
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

function endLines(output: Output, conversation: string, followed: FollowedTurn, turn: TurnSummary | null): string[] {
  const { style } = output;
  const { outcome, reason } = followed;
  const completed = outcome === 'completed';
  const mark = completed ? style.green('✓') : style.red('✗');
  const figures = turn === null ? [] : wrapped(turnFigures(turn), output);
  const next = nextCommand(outcome, reason, conversation, turn);
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
