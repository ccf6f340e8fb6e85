import { describe, expect, it } from 'vitest';
import { getConversation } from '../../src/store/conversations/conversations.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { begin, continueConversation, said, send, startTurn, useTestStore } from './support/store-builders.ts';
import { countWaiting } from './support/waiting-rows.ts';

const { sql } = useTestStore();

describe('beginTurn', () => {
  it("leaves another run's turn alone unless its own run is the newest, and asks again about each turn that it finds open", async () => {
    const live = await startTurn(sql);
    const { conversationId } = live;
    await send(sql, { conversationId });
    const refused = begin(sql, conversationId, { isNewestRun: () => Promise.resolve(false) });
    await expect(refused).rejects.toMatchObject({ code: 'run_replaced', permanent: true });
    expect(await countWaiting(sql, live.conversationId)).toMatchObject({ waiting: 1 });
    expect(await getTurn(sql, live.turnId)).toMatchObject({ outcome: null });

    const answers = [true, false];
    let successor: TurnReference | null = null;
    const overtaken = begin(sql, conversationId, {
      isNewestRun: async () => {
        // While Temporal is asked, the run is replaced, and its successor takes the conversation.
        successor ??= await continueConversation(sql, conversationId);
        return answers.shift() ?? false;
      },
    });
    await expect(overtaken).rejects.toMatchObject({ code: 'run_replaced' });
    expect(answers).toEqual([]);
    expect(await getConversation(sql, conversationId)).toMatchObject({ state: 'working' });
    expect(await said(sql, conversationId)).toEqual(['user hello', 'user hello']);
  });
});
