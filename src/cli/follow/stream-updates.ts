import type { Holdfast } from '../../client/holdfast.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { interruptible } from '../interruption.ts';
import type { Output } from '../output.ts';
import { NO_DISPLAY } from './display.ts';
import type { Display } from './display.ts';
import { Follower } from './follower.ts';
import { chooseTurn } from './turn-choice.ts';
import type { TurnTarget } from './turn-choice.ts';

/** Prints each update as a line of JSON until the turn ends; sets the exit code. */
export async function streamUpdates(
  client: Holdfast,
  output: Output,
  target: TurnTarget & { readonly conversationId: string },
): Promise<void> {
  const { result: outcome, interrupted } = await interruptible(async (signal) => {
    const choice = chooseTurn(target);
    const show: Display['show'] = ({ outageSince }) => {
      if (outageSince !== null) output.remark('! Postgres does not answer; trying again.');
    };
    const follower = new Follower({ ...target, client, display: { ...NO_DISPLAY, show }, signal });
    for await (const update of follower.updates({})) {
      if (!choice.includes(update.type === 'event' ? update.event.turnId : update.text.turnId)) continue;
      output.json(update);
      if (update.type === 'event' && update.event.kind === 'turn_ended') return update.event.data.outcome;
    }
    return null;
  });
  if (!interrupted && outcome !== 'completed') process.exitCode = EXIT_CODES.turnNotCompleted.code;
}
