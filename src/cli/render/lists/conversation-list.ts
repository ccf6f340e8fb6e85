import type { Conversation } from '../../../client/types.ts';
import { shortId } from '../../find-conversation.ts';
import { formatAge, formatCost, formatCount } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { tableLines } from '../text/table.ts';
import type { Column } from '../text/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'conversation' },
  { title: 'state' },
  { title: 'task', flexible: true },
  { title: 'agent' },
  { title: 'entries', align: 'right' },
  { title: 'cost', align: 'right' },
  { title: 'last turn', align: 'right' },
];

/** Columns below which some are left out. */
const WIDE = 90;

/** State in words: of the running turn, the outcome of the last one, or why none begins. */
export function conversationState({
  turn,
  waitingMessages,
  workerNeed,
}: Pick<Conversation, 'turn' | 'waitingMessages' | 'workerNeed'>): string {
  if (turn !== null && turn.state !== 'ended') return turn.state.replaceAll('_', ' ');
  if (waitingMessages > 0) return workerNeed === null ? 'queued' : 'waiting for worker';
  return turn?.outcome?.replaceAll('_', ' ') ?? 'new';
}

export function conversationListLines(
  conversations: readonly Conversation[],
  { columns, style, now }: { readonly columns: number | null; readonly style: Style; readonly now: number },
): string[] {
  const shown = shownColumns(columns ?? WIDE);
  const rows = conversations.map((conversation) => {
    const { conversationId, title, agent, entryCount, turn, createdAt } = conversation;
    const cells = [
      shortId(conversationId),
      conversationState(conversation),
      safeLine(title),
      safeLine(agent),
      formatCount(entryCount),
      turn === null ? '' : turn.cost === null ? 'unknown' : formatCost(turn.cost),
      formatAge(turn?.endedAt ?? turn?.startedAt ?? createdAt, now),
    ];
    return shown.map((column) => cells[column] ?? '');
  });
  return tableLines(
    COLUMNS.filter((_, column) => shown.includes(column)),
    rows,
    {
      columns,
      style,
      paint: (text, _row, column) => (column === 1 ? paintState(text, style) : text),
    },
  );
}

/** The title needs room to be read. */
function shownColumns(columns: number): readonly number[] {
  if (columns >= WIDE) return [0, 1, 2, 3, 4, 5, 6];
  return columns >= 60 ? [0, 1, 2, 5, 6] : [0, 1, 2];
}

function paintState(text: string, style: Style): string {
  const state = text.trim();
  if (state === 'completed') return style.green(text);
  if (state === 'running' || state === 'queued' || state.startsWith('waiting')) return style.cyan(text);
  return state === 'new' || state === 'stopped' ? style.dim(text) : style.red(text);
}
