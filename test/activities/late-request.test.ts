import { expect, test } from 'vitest';
import { compactContext } from '../../src/activities/compaction/compact-context.ts';
import { newId } from '../../src/store/database/ids.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import { send, startTurn, useTestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';

const { sql } = useTestStore();

test('a request to compact that is sent after a check has decided is not declined by it, however late it writes', async () => {
  const turn = await startTurn(sql);
  const { conversationId } = turn;
  await send(sql, { conversationId, kind: 'compact' });
  let late = '';
  const check = await sql.begin(async (open) => {
    // The check reads, decides and is kept from writing.
    await open`select from conversations where id = ${conversationId} for no key update`;
    const input = { turn, callNumber: 1, forced: null } as const;
    const checking = compactContext(activityDependencies(sql), input, execution());
    await waitUntil('the check is to write', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === 1;
    });
    // As its sender would have written it before the check locked the conversation.
    late = newId();
    await sql`
      insert into messages (id, conversation_id, kind, mode, content, measurements)
      values (${late}, ${conversationId}, 'compact', 'steer', '[]', no_measurements())`;
    return { checking };
  });
  expect(await check.checking).toMatchObject({ kind: 'fits', declined: true });
  expect((await listWaitingMessages(sql, conversationId)).map(({ id }) => id)).toEqual([late]);
});
