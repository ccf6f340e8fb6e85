-- Says what the detail log of a task holds: results in pieces byte for byte, others as text with what Postgres cannot hold replaced.

comment on column task_details.output is
  'A result with an original in pieces: that original, byte for byte; it need not be UTF-8. Any other: what the model saw as UTF-8, with U+FFFD for NUL and lone surrogates, and media as a line that names them.';
