import { PinnedTextMissing, projectChecked, RENDERER_VERSION } from '../context/view/project-view.ts';
import type { Database } from '../store/database/database.ts';
import { StoreError } from '../store/database/errors.ts';
import { readProjectionSourceOfCall } from '../store/log/view.ts';
import { viewFingerprint } from '../store/log/view-fingerprint.ts';
import { inScope } from './invariant.ts';
import type { Breach, Invariant, VerifyScope } from './invariant.ts';

/** Newest tries whose views are rebuilt per conversation: enough to notice a changed log, few enough for a large database. */
const REBUILT_PER_CONVERSATION = 3;

interface Call {
  readonly conversationId: string;
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  readonly fingerprint: string;
}

export const VIEW_INVARIANTS: readonly Invariant[] = [
  {
    name: 'view_rebuilds',
    holds: `the views of the newest ${REBUILT_PER_CONVERSATION} tries of each conversation, rebuilt from the log, are what was sent, byte for byte, with every pinned rule`,
    find: changedViews,
  },
];

async function changedViews(sql: Database, scope: VerifyScope): Promise<Breach[]> {
  const breaches: Breach[] = [];
  for (const call of await newestCalls(sql, scope)) {
    if (breaches.length >= scope.limit) break;
    const rebuilt = await rebuild(sql, call);
    if (rebuilt === call.fingerprint) continue;
    const { conversationId, turnId, callNumber, attempt } = call;
    const subject = `try ${attempt} of call ${callNumber} of turn ${turnId}`;
    breaches.push({ conversationId, subject, found: `sent ${call.fingerprint}, rebuilt ${rebuilt}` });
  }
  return breaches;
}

/** Fingerprint of the rebuilt view, or why it cannot be rebuilt. */
async function rebuild(sql: Database, call: Call): Promise<string> {
  try {
    return await viewFingerprint(projectChecked((await readProjectionSourceOfCall(sql, call)).input));
  } catch (error) {
    if (error instanceof StoreError || error instanceof PinnedTextMissing) return `nothing: ${error.code}`;
    // A row that cannot be read fails in many ways; what it holds must not be told.
    return `nothing: ${error instanceof Error ? error.name : typeof error}`;
  }
}

/** Tries that this version of the projection rendered: another version may differ. */
async function newestCalls(sql: Database, scope: VerifyScope): Promise<Call[]> {
  return sql<Call[]>`
    select c.id as "conversationId", m.turn_id, m.call_number, m.attempt, m.view_fingerprint as fingerprint
    from conversations c
    join lateral (
      select m.* from turns t join model_attempts m on m.turn_id = t.id
      where t.conversation_id = c.id and m.renderer_version = ${RENDERER_VERSION}
      order by m.started_at desc limit ${REBUILT_PER_CONVERSATION}) m on true
    where ${inScope(sql, sql`c.id`, scope)}
    order by c.id, m.started_at`;
}
