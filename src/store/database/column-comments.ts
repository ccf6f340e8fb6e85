const DEFINITION = /^create (?:unlogged )?(?:table|type|view) (?<relation>\w+)\b[^]*?;$/gmu;
const COMMENT = /^(?:(?<code> {2}.*?)? )? *-- (?<meaning>.+)$/u;

/**
 * The text of a migration in which the comments beside or above the columns of tables, types and views became statements, so that a
 * reader finds a column and its meaning on one line, and psql shows it too.
 */
export function describeColumns(text: string): string {
  return text.replaceAll(DEFINITION, (definition: string, relation: string) => {
    const statements: string[] = [];
    let above: string | null = null;
    const lines = definition.split('\n').flatMap((line) => {
      const { code, meaning } = COMMENT.exec(line)?.groups ?? {};
      if (meaning !== undefined && code === undefined) {
        above = meaning;
        return [];
      }
      const comment: string | null = meaning ?? above;
      above = null;
      const column = columnOf(code ?? line, definition.startsWith('create view'));
      if (comment === null || column === null) return [code ?? line];
      statements.push(`comment on column ${relation}.${column} is '${comment.replaceAll("'", "''")}';`);
      return [code ?? line];
    });
    return [...lines, ...statements].join('\n');
  });
}

/** The first word of a line of a table, the last one of a line of a view. */
function columnOf(line: string, isView: boolean): string | null {
  return (isView ? /(?<column>\w+),?$/u : /^ {2}(?<column>\w+)/u).exec(line)?.groups?.['column'] ?? null;
}
