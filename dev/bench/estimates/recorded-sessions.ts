import { readFile } from 'node:fs/promises';
import type { ContentPart } from '../../../src/context/log/content.ts';
import { measureContent } from '../../../src/context/log/measure.ts';
import { addMeasurements, NO_MEASUREMENTS } from '../../../src/context/log/measurement-arithmetic.ts';
import type { Measurements } from '../../../src/context/log/measurements.ts';
import { at, isList, listAt, numberAt, textAt } from './json.ts';
import type { Json } from './json.ts';

/** One answered call of a recorded session. */
export interface RecordedCall {
  readonly model: string;
  /** All input tokens that the provider reported, cached ones included. */
  readonly input: number;
  /** What was added since the call before it: that call's answer, results, messages. */
  readonly grown: Measurements;
  /** The first call, or the first after the agent compacted: its input is no continuation of the one before. */
  readonly begins: boolean;
}

/**
 * The calls of a session that records the tokens of its requests: Claude Code, Codex, pi (JSON lines) or Gemini CLI (one
 * object). `null` for other files: Copilot CLI counts answers only, lists of messages count nothing.
 * @throws SyntaxError when the file is no JSON
 */
export async function readRecordedCalls(file: string): Promise<RecordedCall[] | null> {
  const records = parseRecords(await readFile(file, 'utf8'));
  const types = new Set(records.slice(0, 50).map((record) => textAt(record, 'type')));
  const session = new Session();
  if (types.has('gemini')) readGemini(records, session);
  else if (types.has('session_meta')) readCodex(records, session);
  else if (types.has('session')) readPi(records, session);
  else if (types.has('assistant')) readClaudeCode(records, session);
  else return null;
  return session.calls;
}

function parseRecords(text: string): readonly Json[] {
  try {
    const whole: Json = JSON.parse(text);
    return isList(at(whole, 'messages')) ? listAt(whole, 'messages') : [whole];
  } catch {
    // More than one value: JSON lines.
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): Json => JSON.parse(line));
  }
}

/** Adds up what comes between two calls. */
class Session {
  readonly calls: RecordedCall[] = [];
  private grown: Measurements = NO_MEASUREMENTS;
  private begins = true;

  add(content: readonly ContentPart[]): void {
    if (content.length > 0) this.grown = addMeasurements(this.grown, measureContent(content));
  }

  /** A call was made with all that was added so far. */
  call(model: string, input: number): void {
    if (input <= 0) return;
    this.calls.push({ model, input, grown: this.grown, begins: this.begins });
    this.grown = NO_MEASUREMENTS;
    this.begins = false;
  }

  compacted(): void {
    this.begins = true;
  }
}

function textPart(text: string): ContentPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** Text of a content, however the format writes it. */
function said(content: Json): ContentPart[] {
  if (content === null) return [];
  if (typeof content === 'string') return textPart(content);
  if (!isList(content)) return textPart(JSON.stringify(content));
  return textPart(content.map((block) => (typeof block === 'string' ? block : textAt(block, 'text'))).join('\n'));
}

function toolCall(name: Json, given: Json): ContentPart {
  const written = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  return { type: 'tool_call', index: 0, id: '', name: typeof name === 'string' ? name : '', arguments: written };
}

/** A block of an Anthropic message. */
function block(value: Json): ContentPart[] {
  switch (textAt(value, 'type')) {
    case 'text':
      return said(at(value, 'text'));
    case 'thinking': {
      const signature = textAt(value, 'signature') || textAt(value, 'thinkingSignature');
      return [{ type: 'thinking', text: textAt(value, 'thinking'), provider: 'anthropic', signature }];
    }
    case 'tool_use':
      return [toolCall(at(value, 'name'), at(value, 'input'))];
    case 'toolCall':
      return [toolCall(at(value, 'name'), at(value, 'arguments'))];
    case 'tool_result':
      return said(at(value, 'content'));
    default:
      return [];
  }
}

/** One answer is spread over several lines with one id, results between them; each names the usage of the whole. */
function readClaudeCode(records: readonly Json[], session: Session): void {
  const seen = new Set<string>();
  // Asserted: the compiler does not see that `close` changes it.
  let open = null as { readonly id: string; readonly content: ContentPart[] } | null;
  const close = (): void => {
    session.add(open?.content ?? []);
    open = null;
  };
  for (const record of records) {
    if (at(record, 'isSidechain') === true) continue;
    const type = textAt(record, 'type');
    const content = at(record, 'message', 'content');
    if (textAt(record, 'subtype') === 'compact_boundary') {
      close();
      session.compacted();
    } else if (type === 'assistant') {
      const id = textAt(record, 'message', 'id');
      if (open?.id !== id) {
        close();
        open = { id, content: [] };
        if (!seen.has(id))
          session.call(textAt(record, 'message', 'model'), claudeInput(at(record, 'message', 'usage')));
        seen.add(id);
      }
      open.content.push(...listAt(record, 'message', 'content').flatMap(block));
    } else if (type === 'user') {
      close();
      if (isList(content)) for (const each of content) session.add(block(each));
      else session.add(said(content));
    }
  }
}

function claudeInput(usage: Json): number {
  const names = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  return names.reduce((sum, name) => sum + numberAt(usage, name), 0);
}

/** The usage of a call stands after its answer, and its results may stand before. */
function readCodex(records: readonly Json[], session: Session): void {
  let model = '';
  let waiting: ContentPart[][] = [[]];
  const flush = (): void => {
    for (const content of waiting) session.add(content);
    waiting = [[]];
  };
  for (const record of records) {
    const payload = at(record, 'payload');
    const kind = textAt(payload, 'type');
    switch (textAt(record, 'type')) {
      case 'turn_context':
        model = textAt(payload, 'model') || model;
        break;
      case 'compacted':
        flush();
        session.compacted();
        break;
      case 'event_msg':
        if (kind !== 'token_count' || at(payload, 'info') === null) break;
        session.call(model, numberAt(payload, 'info', 'last_token_usage', 'input_tokens'));
        flush();
        break;
      case 'response_item':
        if (kind === 'message' && textAt(payload, 'role') !== 'assistant') session.add(said(at(payload, 'content')));
        else if (kind.endsWith('_output')) waiting.push(said(at(payload, 'output')));
        else waiting[0]?.push(...codexAnswer(kind, payload));
        break;
    }
  }
}

function codexAnswer(kind: string, payload: Json): ContentPart[] {
  if (kind === 'message') return said(at(payload, 'content'));
  if (kind.endsWith('_call')) return [toolCall(at(payload, 'name'), at(payload, 'arguments') ?? at(payload, 'input'))];
  const encrypted = textAt(payload, 'encrypted_content');
  return encrypted === '' ? [] : [{ type: 'thinking', text: '', provider: 'openai', encrypted }];
}

function readPi(records: readonly Json[], session: Session): void {
  for (const record of records) {
    if (textAt(record, 'type') === 'compaction') session.compacted();
    if (textAt(record, 'type') !== 'message') continue;
    const message = at(record, 'message');
    switch (textAt(message, 'role')) {
      case 'assistant': {
        const usage = at(message, 'usage');
        const input = numberAt(usage, 'input') + numberAt(usage, 'cacheRead') + numberAt(usage, 'cacheWrite');
        session.call(textAt(message, 'model'), input);
        session.add(listAt(message, 'content').flatMap(block));
        break;
      }
      case 'bashExecution':
        session.add(textPart(`${textAt(message, 'command')}\n${textAt(message, 'output')}`));
        break;
      default:
        session.add(said(at(message, 'content')));
    }
  }
}

function readGemini(records: readonly Json[], session: Session): void {
  for (const record of records) {
    const type = textAt(record, 'type');
    if (type === 'user') session.add(said(at(record, 'content')));
    if (type !== 'gemini') continue;
    session.call(textAt(record, 'model'), numberAt(record, 'tokens', 'input'));
    const calls = listAt(record, 'toolCalls');
    session.add([...said(at(record, 'content')), ...calls.map((call) => toolCall(at(call, 'name'), at(call, 'args')))]);
    for (const result of calls.flatMap((call) => listAt(call, 'result'))) {
      session.add(said(at(result, 'functionResponse', 'response', 'output') ?? result));
    }
  }
}
