import { estimateTokens, NO_CALIBRATION } from '../../context/estimate.ts';
import { keptUserMessages } from '../../context/kept-user-messages.ts';
import { isShortOpening } from '../../context/opening-message.ts';
import type { LabConversation } from '../replay/lab-conversation.ts';

/**
 * Which messages of the user must stand in the view word for word: all from the cut on, and of those before it what the
 * product's own rule chooses within the policy's budget, pass by pass; a short message that opened the turn counts against it.
 */
export class ExpectedUserMessages {
  private kept: readonly number[] = [];
  private cut = 1;
  private readonly budget: number;

  /** @param budget tokens */
  constructor(budget: number) {
    this.budget = budget;
  }

  /** After a compaction. Returns the sequences of the messages. */
  after(conversation: LabConversation): readonly number[] {
    const { entries, summary } = conversation;
    const said = entries.filter(({ kind }) => kind === 'user');
    const cut = summary?.firstKeptSequence ?? 1;
    const recent = said.filter(({ sequence }) => sequence >= cut).map(({ sequence }) => sequence);
    if (cut !== this.cut) {
      const candidates = said
        .filter(({ sequence }) => sequence < cut && (sequence >= this.cut || this.kept.includes(sequence)))
        .map(({ sequence }) => sequence);
      const tokensAt = (sequence: number): number => {
        const entry = entries[sequence - 1];
        return entry === undefined ? 0 : estimateTokens(entry.measurements, NO_CALIBRATION);
      };
      const turnId = entries.at(-1)?.turnId;
      const opening = candidates.find((sequence) => entries[sequence - 1]?.turnId === turnId);
      this.kept = keptUserMessages({
        candidates,
        tokensAt,
        budget: this.budget,
        newestIsKept: recent.length > 0,
        opening: opening !== undefined && isShortOpening(tokensAt(opening), this.budget) ? opening : null,
      });
      this.cut = cut;
    }
    return [...this.kept, ...recent];
  }
}
