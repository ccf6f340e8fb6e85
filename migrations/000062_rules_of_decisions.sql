-- A call falls under every rule that it fits, and under its tool's own word: a decision on one rule alone lets none run that another
-- one asks for. `rule` named the first of them; it names all, and workers of an older version, which write it alone, are understood.

alter table decisions add column rules text[];
update decisions set rules = array[rule];
alter table decisions alter column rules set not null, add check (cardinality(rules) > 0);
comment on column decisions.rules is 'All that made the call ask, each a rule of the configuration or the tool''s own. It runs unasked once an approval stands for each of them.';
comment on column decisions.rule is 'The same in words.';

create function fill_rules() returns trigger language plpgsql as $$
begin
  new.rules := array[new.rule];
  return new;
end $$;
comment on function fill_rules is 'Trigger: the rules of a row that names one alone, as older versions write it and older files hold it.';
create trigger fill_rules before insert on decisions for each row when (new.rules is null) execute function fill_rules();
