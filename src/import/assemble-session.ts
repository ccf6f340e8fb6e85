import type { ToolCallPart } from '../context/log/content.ts';
import { earlierResult } from '../context/view/notes.ts';
import type { ImportedRecord } from '../store/transfer/import-conversation.ts';
import type { SessionRecord } from './session-record.ts';

/** A record with its place in Holdfast's terms: turn, model call, position among the calls of an answer. */
export type LogRecord = Extract<SessionRecord, { kind: 'session' | 'instructions' | 'compacted' }> | ImportedRecord;

export const NOT_RECORDED = '[No result of this call was recorded. Whether it took effect is unknown.]';

interface OpenCall {
  readonly call: ToolCallPart;
  answered: boolean;
}

type Problem = 'result_without_call' | 'call_without_result';

/**
 * Puts the records of a session into the order and the groups that Holdfast's log has: a turn begins
 * with the message that follows an answer without tool calls; a message that came while calls were
 * open waits for their results, as a steering message does; each call has exactly one result.
 */
export class SessionAssembler {
  private turn = 0;
  private callNumber = 0;
  /** The newest answer asked for tools, so the turn goes on. */
  private working = false;
  private openCalls: OpenCall[] = [];
  private waiting: SessionRecord[] = [];
  private readonly onProblem: (problem: Problem) => void;

  constructor(onProblem: (problem: Problem) => void) {
    this.onProblem = onProblem;
  }

  add(record: SessionRecord): LogRecord[] {
    switch (record.kind) {
      case 'session': {
        const before = this.end();
        this.turn = 0;
        this.working = false;
        return [...before, record];
      }
      case 'instructions':
        return [record];
      case 'compacted':
        return [record];
      case 'user':
        if (this.openCalls.some((open) => !open.answered)) {
          this.waiting.push(record);
          return [];
        }
        return this.addUser(record);
      case 'assistant':
        return [...this.closeStep(), ...this.addAnswer(record)];
      case 'tool_result':
        return this.addResult(record);
    }
  }

  /** What is still open when the session ends. */
  end(): LogRecord[] {
    return this.closeStep();
  }

  private addUser({ content, at }: Pick<Extract<SessionRecord, { kind: 'user' }>, 'content' | 'at'>): LogRecord[] {
    if (!this.working) this.beginTurn();
    // Several messages in a row open one turn: the answer decides when it is over.
    this.working = true;
    return [{ kind: 'user', turn: this.turn, content, ...timeOf(at) }];
  }

  private beginTurn(): void {
    this.turn += 1;
    this.callNumber = 0;
  }

  private addAnswer(record: Extract<SessionRecord, { kind: 'assistant' }>): LogRecord[] {
    if (!this.working) this.beginTurn();
    this.callNumber += 1;
    this.openCalls = record.content.flatMap((part) =>
      part.type === 'tool_call' ? [{ call: part, answered: false }] : [],
    );
    this.working = this.openCalls.length > 0;
    return [{ ...record, turn: this.turn, callNumber: this.callNumber }];
  }

  private addResult(record: Extract<SessionRecord, { kind: 'tool_result' }>): LogRecord[] {
    const open = this.openCalls.find(({ call, answered }) => !answered && call.id === record.callId);
    if (open === undefined) {
      this.onProblem('result_without_call');
      return this.add({ kind: 'user', content: earlierResult('a tool', record.content), ...timeOf(record.at) });
    }
    open.answered = true;
    const { isError, content, at } = record;
    return [this.resultOf(open.call, { outcome: isError ? 'failed' : 'succeeded', content, ...timeOf(at) })];
  }

  private resultOf(
    call: ToolCallPart,
    of: Pick<Extract<ImportedRecord, { kind: 'tool_result' }>, 'outcome' | 'content' | 'at'>,
  ): LogRecord {
    const { turn, callNumber } = this;
    return { kind: 'tool_result', turn, callNumber, callIndex: call.index, toolName: call.name, ...of };
  }

  private closeStep(): LogRecord[] {
    const missing = this.openCalls.filter(({ answered }) => !answered);
    this.openCalls = [];
    const closed = missing.map(({ call }) => {
      this.onProblem('call_without_result');
      return this.resultOf(call, { outcome: 'outcome_unknown', content: [{ type: 'text', text: NOT_RECORDED }] });
    });
    const said = this.waiting.flatMap((record) => (record.kind === 'user' ? this.addUser(record) : []));
    this.waiting = [];
    return [...closed, ...said];
  }
}

function timeOf(at: Date | undefined): { readonly at?: Date } {
  return at === undefined ? {} : { at };
}
