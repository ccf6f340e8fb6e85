import { property } from '../../models/json.ts';
import type { DocumentShape } from './read-document.ts';

export type SessionFormat = 'claude-code' | 'codex' | 'pi' | 'gemini-cli' | 'copilot-cli' | 'openai-messages';

const CODEX_TYPES = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted']);

/** The format that a line or a message of a document belongs to; `null` when it could be of several, or of none. */
export function formatOf(value: unknown): SessionFormat | null {
  const type = property(value, 'type');
  const role = property(value, 'message', 'role');
  if (typeof type !== 'string') {
    const isMessage = typeof property(value, 'role') === 'string';
    const list = property(value, 'messages') ?? property(value, 'traj');
    return isMessage || Array.isArray(list) ? 'openai-messages' : null;
  }
  if (CODEX_TYPES.has(type) && property(value, 'payload') !== undefined) return 'codex';
  if (type.includes('.') && property(value, 'data') !== undefined) return 'copilot-cli';
  if (type === 'session' && property(value, 'id') !== undefined) return 'pi';
  if (type === 'message' && typeof role === 'string') return 'pi';
  if ((type === 'user' || type === 'assistant') && typeof role === 'string') return 'claude-code';
  if (type === 'gemini') return 'gemini-cli';
  if (type === 'user' && property(value, 'content') !== undefined && property(value, 'id') !== undefined)
    return 'gemini-cli';
  return typeof property(value, 'role') === 'string' ? 'openai-messages' : null;
}

/** How the values of a file are laid out, from its first characters. */
export type Layout = { readonly kind: 'lines' } | { readonly kind: 'document'; readonly shape: DocumentShape };

/** @param head the first characters of the file, as many as were read; `whole` when that is all of it */
export function layoutOf(head: string, whole: boolean): Layout {
  const text = head.replace(/^\uFEFF/u, '').trimStart();
  if (text.startsWith('[')) return { kind: 'document', shape: arrayShape(text) };
  const lineEnd = text.indexOf('\n');
  const firstLine = lineEnd === -1 ? text : text.slice(0, lineEnd);
  const isOneLine = lineEnd === -1 || text.slice(lineEnd).trim() === '';
  const hasMessages = /"(?:messages|traj)"\s*:\s*\[/.test(text);
  if (isOneLine && hasMessages && text.startsWith('{')) return { kind: 'document', shape: 'conversation' };
  const isLine = isJson(firstLine) || (lineEnd === -1 && !whole);
  if (!isLine && text.startsWith('{') && /^\{\s*(?:"|$)/.test(text) && hasMessages) {
    return { kind: 'document', shape: 'conversation' };
  }
  return { kind: 'lines' };
}

function arrayShape(text: string): DocumentShape {
  const list = /"(?:messages|traj)"\s*:\s*\[/.exec(text)?.index ?? Infinity;
  const role = /"role"\s*:/.exec(text)?.index ?? Infinity;
  return list < role ? 'conversations' : 'messages';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
