-- Types, the clock, and functions that compute without reading a table. Everything lives in the schema `holdfast`.
-- In each file, `holdfast db migrate` makes the comment beside or above a column the COMMENT of that column.

create type activity_attempt as (
  run_id text, -- Workflow run that scheduled the activity.
  activity_id text, -- Temporal's id of the activity, unique in the run.
  attempt integer -- From 1.
);
comment on type activity_attempt is 'One attempt of a Temporal activity.';

create type late_tool_result as (
  attempt integer, -- The claim that produced it.
  worker_identity text, -- The worker that produced it.
  outcome text, -- What the tool reported.
  content json, -- Content parts.
  original_id uuid, -- The whole of it (contents), when the content shows less.
  received_at timestamptz -- When it came.
);
comment on type late_tool_result
  is 'What a tool call came to after another attempt had taken it over, or its turn had ended.';

create type measurements as (
  letters bigint, -- Letters of alphabetic scripts; characters are UTF-16 code units.
  symbols bigint, -- Digits, punctuation and symbols.
  spaces bigint, -- Spaces that stand alone.
  whitespace_runs bigint, -- White space in runs, and line breaks.
  ideographs bigint, -- Chinese, Japanese, Korean and other scripts without alphabet.
  dense bigint, -- Characters in unbroken runs that no word explains: base64, hashes.
  bytes bigint, -- UTF-8 bytes of text, plus bytes of media.
  images integer, -- Images.
  image_patches integer, -- Sum over images of ceil(width / 28) x ceil(height / 28).
  document_pages integer, -- Pages of documents.
  frames integer -- Messages, tool calls and tool results: each costs a few tokens of framing.
);
comment on type measurements is 'What was counted of a content: additive, so any token estimator applies to sums.';

-- A null field would spread through all later sums: `check (… is not null)` on a column looks into the fields.
create function no_measurements() returns measurements language sql immutable parallel safe
return row(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)::measurements;
comment on function no_measurements is 'Measurements of nothing.';

create function add_measurements(a measurements, b measurements) returns measurements
language sql immutable parallel safe
return row(
  a.letters + b.letters, a.symbols + b.symbols, a.spaces + b.spaces, a.whitespace_runs + b.whitespace_runs,
  a.ideographs + b.ideographs, a.dense + b.dense, a.bytes + b.bytes, a.images + b.images,
  a.image_patches + b.image_patches, a.document_pages + b.document_pages, a.frames + b.frames)::measurements;
comment on function add_measurements is 'Sum of two measurements, number by number.';

create function subtract_measurements(a measurements, b measurements) returns measurements
language sql immutable parallel safe
return row(
  a.letters - b.letters, a.symbols - b.symbols, a.spaces - b.spaces, a.whitespace_runs - b.whitespace_runs,
  a.ideographs - b.ideographs, a.dense - b.dense, a.bytes - b.bytes, a.images - b.images,
  a.image_patches - b.image_patches, a.document_pages - b.document_pages, a.frames - b.frames)::measurements;
comment on function subtract_measurements is 'Difference of two measurements, number by number.';

create operator + (leftarg = measurements, rightarg = measurements, function = add_measurements, commutator = +);
create operator - (leftarg = measurements, rightarg = measurements, function = subtract_measurements);
comment on operator + (measurements, measurements) is 'Sum of two measurements.';
comment on operator - (measurements, measurements) is 'Difference of two measurements.';
create aggregate sum (measurements) (
  sfunc = add_measurements, stype = measurements, initcond = '(0,0,0,0,0,0,0,0,0,0,0)');
comment on aggregate sum (measurements) is 'Sum of the measurements of all rows.';

create function holdfast_now() returns timestamptz language sql stable
return statement_timestamp() + coalesce(nullif(current_setting('holdfast.clock_offset', true), ''), '0')::interval;
comment on function holdfast_now is 'The only clock of the schema; holdfast.clock_offset shifts it in tests.';

create function iso_time(moment timestamptz) returns text language sql stable parallel safe
return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
comment on function iso_time is 'A time as ISO 8601 in UTC, with milliseconds.';

create function readable_json(original json) returns json language sql immutable parallel safe
-- An escape counts when an even number of backslashes stands before it.
return case when original::text ~ '\\u(0000|[dD][89a-fA-F])'
  then regexp_replace(
    original::text, '((?<!\\)(?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g')::json
  else original end;
comment on function readable_json is 'The JSON with U+FFFD for NUL and lone surrogates.';

create function readable_text(original json) returns text language sql immutable parallel safe
return readable_json(original) #>> '{}';
comment on function readable_text is 'A JSON string as text, with U+FFFD for NUL and lone surrogates.';

create function content_text(content json) returns text language sql immutable parallel safe
return (
  select coalesce(string_agg(
    case part ->> 'type'
      when 'text' then part ->> 'text'
      when 'thinking' then '[thinking] ' || (part ->> 'text')
      when 'tool_call' then format('[call %s] %s(%s)', part ->> 'index', part ->> 'name', part ->> 'arguments')
      when 'image' then format('[image %s, %s x %s]', part ->> 'mediaType', part ->> 'width', part ->> 'height')
      when 'file' then format('[file %s, %s]', part ->> 'name', part ->> 'mediaType')
    end, E'\n' order by number), '')
  from json_array_elements(readable_json(content)) with ordinality as parts (part, number));
comment on function content_text is 'Content parts as text for a person; media as a line that names them.';
