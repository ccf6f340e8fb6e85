import { property } from '../../models/protocols/json.ts';

export type SessionFormat = 'claude-code' | 'codex' | 'pi' | 'gemini-cli' | 'copilot-cli' | 'openai-messages';

const CODEX_TYPES = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted']);

/** The format that a line or a message of a document belongs to; `null` when it could be of several, or of none. */
export function formatOf(value: unknown): SessionFormat | null {
  const has = (name: string): boolean => property(value, name) !== undefined;
  const type = property(value, 'type');
  const role = property(value, 'message', 'role');
  if (has('$set') || has('$rewindTo') || (has('sessionId') && has('projectHash'))) return 'gemini-cli';
  if (typeof type !== 'string') {
    const list = property(value, 'messages') ?? property(value, 'traj');
    return typeof property(value, 'role') === 'string' || Array.isArray(list) ? 'openai-messages' : null;
  }
  if (CODEX_TYPES.has(type) && has('payload')) return 'codex';
  if (type.includes('.') && has('data')) return 'copilot-cli';
  if (type === 'session' && has('id')) return 'pi';
  if (has('parentId') || (type === 'message' && typeof role === 'string')) return 'pi';
  if (has('parentUuid')) return 'claude-code';
  if ((type === 'user' || type === 'assistant') && typeof role === 'string') return 'claude-code';
  if (type === 'gemini' || (type === 'user' && has('content') && has('id'))) return 'gemini-cli';
  return typeof property(value, 'role') === 'string' ? 'openai-messages' : null;
}

/** The format of most values, so that a damaged one decides nothing; `null` when none has one. */
export function formatOfMost(values: readonly unknown[]): SessionFormat | null {
  const counts = new Map<SessionFormat, number>();
  for (const value of values) {
    const format = formatOf(value);
    if (format !== null) counts.set(format, (counts.get(format) ?? 0) + 1);
  }
  return [...counts].reduce<[SessionFormat | null, number]>(
    (most, each) => (each[1] > most[1] ? each : most),
    [null, 0],
  )[0];
}
