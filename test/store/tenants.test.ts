import { beforeAll, expect, it } from 'vitest';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { isolateTenants } from '../../src/store/database/migration-ledger.ts';
import { newId } from '../../src/store/database/ids.ts';
import { useTestStore } from './support/store-builders.ts';
import { makeConversation } from './support/make-conversation.ts';

let sql: Database;
let owner: Database;
let url: string;
useTestStore((store) => {
  ({ sql, owner, url } = store);
});
beforeAll(() => isolateTenants(owner));

/** Whoever calls acts for a tenant, or for none. */
async function as<Result>(tenant: string | null, work: (api: Database) => Promise<Result>): Promise<Result> {
  const settings = { role: 'holdfast_api', ...(tenant !== null && { 'holdfast.tenant': tenant }) };
  const api = connectDatabase({ url, settings, maximumConnections: 1 });
  try {
    return await work(api);
  } finally {
    await api.end();
  }
}

/** Views that say themselves which rows are a tenant's. */
const BY_INDEX = new Set(['searched_passages', 'searched_terms']);
/** Tables without rows of tenants. */
const OF_NOBODY = ['deployment', 'migrations', 'provider_pauses'];

it('every table and view that a server reads is behind a policy, and keys it does not read', async () => {
  const rows = await owner<{ name: string; kind: string; policies: number; forced: boolean; isReaders: boolean }[]>`
    select c.relname as name, c.relkind as kind, c.relrowsecurity and c.relforcerowsecurity as forced,
      (select count(*)::int from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant' and not p.polpermissive
        and p.polroles = array['holdfast_api'::regrole::oid]) as policies,
      coalesce(c.reloptions @> array['security_invoker=true'], false) as is_readers
    from pg_class c where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
      and has_any_column_privilege('holdfast_api', c.oid, 'select')`;
  const open = rows.filter(({ name, kind, policies, forced, isReaders }) =>
    kind === 'v' ? !isReaders && !BY_INDEX.has(name) : policies !== 1 || !forced,
  );
  expect(open).toEqual([]);
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.map(({ name }) => name)).not.toContain('api_keys');
});

it('a tenant sees its own rows, others and none see nothing', async () => {
  const conversationId = newId();
  await makeConversation(sql, conversationId, { tenant: 'ada' });
  const tables = await owner<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'holdfast'::regnamespace and relkind in ('r', 'v')
      and has_any_column_privilege('holdfast_api', oid, 'select') and relname <> all(${OF_NOBODY}::text[])`;
  const seen = (tenant: string | null): Promise<string[]> =>
    as(tenant, async (api) => {
      const found: string[] = [];
      for (const { name } of tables) {
        const [row] = await api<{ count: number }[]>`select count(*)::int as count from ${api(name)}`;
        if (row?.count !== 0) found.push(name);
      }
      return found;
    });
  expect(await seen('ada')).toEqual(expect.arrayContaining(['conversations', 'branches']));
  expect(await seen('bob')).toEqual([]);
  expect(await seen(null)).toEqual([]);
});

it('a tenant can neither write into, take over nor delete what is another one’s', async () => {
  const conversationId = newId();
  await makeConversation(sql, conversationId, { tenant: 'ada' });
  await as('bob', async (api) => {
    const message = { conversation_id: conversationId, id: newId(), kind: 'message', mode: 'queue' };
    await expect(api`insert into messages ${api(message)}`).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|23\d{3})$/u),
    });
    const inAnother = { id: newId(), tenant: 'ada', agent: 'default', task_queue: 'q' };
    await expect(api`insert into conversations ${api(inAnother)}`).rejects.toMatchObject({ code: '42501' });
    expect((await api`update conversations set agent = 'mine'`).count).toBe(0);
    expect(await api`select * from delete_conversation(${conversationId})`).toEqual([]);
    await expect(api`select * from api_keys`).rejects.toMatchObject({ code: '42501' });
  });
  await as(null, async (api) => {
    expect(await api`select * from delete_conversation(${conversationId})`).toEqual([]);
  });
  expect(await owner`select agent from holdfast.conversations where id = ${conversationId}`).toHaveLength(1);
  await as('ada', async (api) => void (await api`select * from delete_conversation(${conversationId})`));
  expect(await owner`select from holdfast.conversations where id = ${conversationId}`).toHaveLength(0);
});
