import { z } from 'zod';

/** One effect of a tool, as the tool itself wrote it down outside Postgres, at the moment when it acted. */
export interface JournalLine {
  readonly tool: string;
  readonly effect: 'none' | 'idempotent' | 'once';
  readonly key: string;
}

export interface Journal {
  readonly lines: readonly JournalLine[];
  /** Whether the last line was cut off by the death of its writer: it is left out. */
  readonly torn: boolean;
}

export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly code = 'journal_invalid';
  /** From 1. */
  readonly line: number;

  constructor(line: number) {
    super(`line ${line} of the journal is no effect`);
    this.line = line;
  }
}

const journalLine = z.object({
  tool: z.string().min(1),
  effect: z.enum(['none', 'idempotent', 'once']),
  key: z.string().min(1),
});

/**
 * Reads a journal: a JSON object a line. Only the last line may be cut off, where nothing ends it: a writer that died left it so.
 * @throws JournalError naming the first line that is none
 */
export function parseJournal(text: string): Journal {
  const written = text.split('\n');
  const lines: JournalLine[] = [];
  for (const [index, line] of written.entries()) {
    if (line.trim() === '') continue;
    const parsed = journalLine.safeParse(parseLine(line));
    if (parsed.success) lines.push(parsed.data);
    else if (index === written.length - 1) return { lines, torn: true };
    else throw new JournalError(index + 1);
  }
  return { lines, torn: false };
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
