import { turnWorkflowId } from '../../turn/workflow-id.ts';
import { IMPORTER } from '../import-conversation.ts';

/** What a value of a JSON column must be, so that whoever reads the row later does not stumble over it. */
type Shape = (value: unknown) => boolean;

type Row = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isPolicy: Shape = (value) => isObject(value) && typeof value['name'] === 'string';

const isSnapshot: Shape = (value) =>
  isObject(value) &&
  typeof value['agent'] === 'string' &&
  typeof value['model'] === 'string' &&
  isObject(value['limits']) &&
  Array.isArray(value['tools']) &&
  Array.isArray(value['rules']) &&
  isPolicy(value['policy']);

/** What each kind of content part has at least. */
const MEMBERS_OF_PARTS: Readonly<Record<string, Readonly<Record<string, 'string' | 'number'>>>> = {
  text: { text: 'string' },
  thinking: { text: 'string', provider: 'string' },
  image: { mediaType: 'string', data: 'string', width: 'number', height: 'number' },
  file: { mediaType: 'string', name: 'string', data: 'string', pages: 'number' },
  tool_call: { index: 'number', id: 'string', name: 'string', arguments: 'string' },
};

const isPart: Shape = (value) => {
  if (!isObject(value) || typeof value['type'] !== 'string' || !Object.hasOwn(MEMBERS_OF_PARTS, value['type'])) {
    return false;
  }
  return Object.entries(MEMBERS_OF_PARTS[value['type']] ?? {}).every(([name, type]) => typeof value[name] === type);
};

const isContent: Shape = (value) => Array.isArray(value) && value.every(isPart);

const isPlan: Shape = (value) => isObject(value) && Array.isArray(value['parts']);

const isString: Shape = (value) => typeof value === 'string';

const orNull =
  (shape: Shape): Shape =>
  (value) =>
    value === null || value === undefined || shape(value);

const SHAPES: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  messages: { content: isContent },
  turns: { snapshot: isSnapshot, policy: isPolicy },
  entries: { content: isContent },
  tool_calls: { arguments: isString },
  late_tool_results: { content: isContent },
  compactions: { plan: isPlan, summary: orNull(isString) },
  compaction_parts: { text: orNull(isString) },
  memories: { text: isString },
};

/** What turns of ten thousand years would not come to; far from where Postgres's integers end. */
const HIGHEST_COUNT = 1_000_000_000;
/** Numbers of a conversation that go on from what the file says. */
const COUNTERS = [
  'epoch',
  'branch',
  'last_sequence',
  'last_event',
  'compactions',
  'steps',
  'tool_calls',
  'model_calls',
];

function counterTooHigh(table: string, row: Row): string | undefined {
  const counters = table === 'conversations' ? COUNTERS : ['epoch'];
  return counters.find((name) => typeof row[name] === 'number' && row[name] > HIGHEST_COUNT);
}

/** What is wrong with a row by itself, in words that repeat nothing of it; `null` when it is as Holdfast writes it. */
export function problemOf(table: string, row: Row, conversationId: string): string | null {
  const misshapen = Object.entries(SHAPES[table] ?? {}).find(([column, isShaped]) => !isShaped(row[column]));
  if (misshapen !== undefined) return `${table}.${misshapen[0]} is not what Holdfast writes there`;
  const counter = counterTooHigh(table, row);
  if (counter !== undefined) return `${table}.${counter} is so high that the conversation could not go on`;
  if (table === 'conversations' && (row['active_turn_id'] ?? null) !== null) {
    return 'the conversation has an open turn, which `holdfast export` refuses';
  }
  if (table !== 'turns') return null;
  if ((row['outcome'] ?? null) === null) return 'the turn is open, which `holdfast export` refuses';
  // It stands in commands that are printed for whoever deletes the conversation.
  const workflows = [turnWorkflowId(conversationId), `${IMPORTER}:${conversationId}`];
  if (!workflows.includes(String(row['workflow_id']))) {
    return `turns.workflow_id is neither ${workflows.join(' nor ')}`;
  }
  return null;
}
