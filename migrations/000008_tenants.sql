-- Keys of the HTTP API, and the walls between tenants: what a server with keys reads and writes, it does as `holdfast_api`.

create table api_keys (
  id uuid primary key, -- UUIDv7; what a key is revoked by.
  hash bytea not null unique, -- SHA-256 of the key, which is shown once and stored nowhere.
  tenant text not null check (tenant <> ''), -- Whose conversations it leads to.
  name text not null check (name <> ''), -- For people.
  -- read, write, decide, admin.
  scopes text[] not null check (scopes <> '{}' and scopes <@ array['read', 'write', 'decide', 'admin']),
  requests_per_minute integer check (requests_per_minute > 0), -- null: as the server's configuration says.
  open_turns integer check (open_turns > 0), -- Turns of the tenant that may be open when it starts or sends; null: any.
  cost_per_day numeric check (cost_per_day > 0), -- Dollars of the tenant in 24 hours; null: any.
  created_at timestamptz not null default holdfast_now(), -- When it was made.
  expires_at timestamptz, -- null: never.
  revoked_at timestamptz, -- null: in force.
  last_used_at timestamptz -- To the minute; null: never.
);
comment on table api_keys is 'Keys of the HTTP API. Who holds one acts for its tenant, within its scopes.';

create function tenant_in_force() returns text language sql stable
return nullif(current_setting('holdfast.tenant', true), '');
comment on function tenant_in_force is 'The tenant that a server has set for its connection; null: none.';

create function condition_of_tenant(relation regclass) returns text language sql stable as $$
select case
  when relation in ('model_facts'::regclass) then 'tenant in ('''', tenant_in_force())'
  when exists (select from pg_attribute where attrelid = relation and attname = 'tenant' and not attisdropped)
    then 'tenant = tenant_in_force()'
  when relation = 'content_pieces'::regclass
    then 'exists (select from contents o where o.id = content_pieces.content_id)'
  when relation = 'agent_snapshots'::regclass
    then 'exists (select from turns t where t.snapshot_hash = agent_snapshots.hash)'
  when exists (select from pg_attribute where attrelid = relation and attname = 'conversation_id' and not attisdropped)
    then format('exists (select from conversations c where c.id = %s.conversation_id)', relation)
  else 'true' end $$;
comment on function condition_of_tenant is
  'Which rows a tenant sees: its conversations, and what belongs to one that it sees.';

create function isolate_tenants() returns void language plpgsql as $$
declare
  found_relation record;
  granted record;
begin
  -- Views show what their reader may see since Postgres 15.
  if current_setting('server_version_num')::integer < 150000
    or (select count(*) from pg_roles where rolname in ('holdfast_app', 'holdfast_api')) < 2 then return; end if;
  grant usage on schema holdfast to holdfast_api;
  grant execute on function delete_conversation to holdfast_api;
  for found_relation in
    select c.oid::regclass as name, c.oid, c.relkind, c.relrowsecurity, c.relacl, coalesce(
        c.reloptions @> array['security_invoker=true'], false) as is_readers
    from pg_class c
    where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
      and c.relname not in ('api_keys', 'workers') and pg_has_role(c.relowner, 'usage')
  loop
    if found_relation.relkind = 'v' then
      if not found_relation.is_readers then
        execute format('alter view %s set (security_invoker = true)', found_relation.name);
      end if;
    else
      if not found_relation.relrowsecurity then
        execute format('alter table %s enable row level security, force row level security', found_relation.name);
        execute format('create policy everybody on %s using (true) with check (true)', found_relation.name);
      end if;
      if not exists (select from pg_policy p where p.polrelid = found_relation.oid and p.polname = 'tenant') then
        execute format('create policy tenant on %s as restrictive %s to holdfast_api using (%s)', found_relation.name,
          case found_relation.name when 'agent_snapshots'::regclass then 'for select' else '' end,
          condition_of_tenant(found_relation.name));
      end if;
    end if;
    -- The rights of the application, for those rows.
    for granted in
      select privilege_type as privilege, '' as columns from aclexplode(found_relation.relacl)
      where grantee = 'holdfast_app'::regrole
      union all
      select x.privilege_type, format('(%s)', string_agg(quote_ident(a.attname), ', '))
      from pg_attribute a cross join aclexplode(a.attacl) x
      where a.attrelid = found_relation.oid and x.grantee = 'holdfast_app'::regrole group by 1
    loop
      execute format('grant %s %s on %s to holdfast_api', granted.privilege, granted.columns, found_relation.name);
    end loop;
  end loop;
end $$;
comment on function isolate_tenants is
  'What `holdfast_api` may see and do: each `holdfast migrate` calls it, for roles and tables created since.';
