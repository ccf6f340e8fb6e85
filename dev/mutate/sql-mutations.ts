export interface SqlMutation {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const VALUE = String.raw`(?:[\w.']+|\0+)`;
/** One condition of several; without brackets, which would need a parser of SQL. */
const CONDITION = new RegExp(
  String.raw`\band (?:not )?[\w.]+(?: is (?:not )?null| (?:=|<>|<=|>=|<|>|is (?:not )?distinct from) ${VALUE})?(?=\s*(?:$|\)|\0|\band\b|\border\b|\blimit\b|\bgroup\b|\bfor\b|\breturning\b))`,
  'gu',
);
const SWAPPED: readonly (readonly [RegExp, string])[] = [
  [/(?<= )<(?= )/gu, '<='],
  [/(?<= )<=(?= )/gu, '<'],
  [/(?<= )>(?= )/gu, '>='],
  [/(?<= )>=(?= )/gu, '>'],
  [/\bdesc\b/gu, 'asc'],
  [/\bis not null\b/gu, 'is null'],
  [/\bis null\b/gu, 'is not null'],
];

/** Changes of a query in a tagged template: a condition less, another comparison, another order. Positions are those in the text. */
export function sqlMutations(text: string): SqlMutation[] {
  if (!/^(?:\w+\.)*(?:sql|tx|transaction)\b/u.test(text)) return [];
  const masked = withoutInserted(text);
  const dropped = [...masked.matchAll(CONDITION)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    replacement: '',
  }));
  const swapped = SWAPPED.flatMap(([pattern, replacement]) =>
    [...masked.matchAll(pattern)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      replacement,
    })),
  );
  return [...dropped, ...swapped];
}

/** The text of the query alone, the rest and each `${…}` as NULs, so that positions stay. */
function withoutInserted(text: string): string {
  const begin = text.indexOf('`') + 1;
  let masked = '\0'.repeat(begin);
  let depth = 0;
  for (let index = begin; index < text.length - 1; index += 1) {
    if (text.startsWith('${', index)) depth += 1;
    masked += depth === 0 ? text[index] : '\0';
    if (depth > 0 && text[index] === '}') depth -= 1;
  }
  return masked;
}
