import type { Holdfast } from '../../client/holdfast.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { interruptible } from '../interruption.ts';
import type { Output } from '../output.ts';
import { createPatience } from './patience.ts';
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
    const patience = createPatience(client, signal, () => output.remark('! Postgres does not answer; trying again.'));
    for await (const update of patience.watch({ conversationId: target.conversationId })) {
      if (!choice.includes(update.type === 'event' ? update.event.turnId : update.text.turnId)) continue;
      output.json(update);
      if (update.type === 'event' && update.event.kind === 'turn_ended') return update.event.data.outcome;
    }
    return null;
  });
  if (!interrupted && outcome !== 'completed') process.exitCode = EXIT_CODES.turnNotCompleted.code;
}
