import { methods } from '@agentclientprotocol/sdk';
import type {
  AgentContext,
  PermissionOption,
  RequestPermissionResponse,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { WaitingCall } from '../../client/types.ts';
import { HoldfastClientError } from '../../client/errors.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import { describeCall, parsed, toolCallId } from './entry-updates.ts';

const OPTIONS = [
  { optionId: 'approve', name: 'Allow', kind: 'allow_once' },
  { optionId: 'approve_agent', name: 'Always allow for this agent', kind: 'allow_always' },
  { optionId: 'deny', name: 'Reject', kind: 'reject_once' },
  { optionId: 'deny_agent', name: 'Always reject for this agent', kind: 'reject_always' },
] as const satisfies readonly PermissionOption[];

/** Asks the editor about calls that wait for an approval, each once, until somebody decided. */
export class Permissions {
  readonly #client: Holdfast;
  readonly #editor: AgentContext;
  readonly #asked = new Map<string, AbortController>();

  constructor(client: Holdfast, editor: AgentContext) {
    this.#client = client;
    this.#editor = editor;
  }

  ask(conversationId: string, workspace: string, waiting: readonly WaitingCall[]): void {
    for (const call of waiting) {
      if (call.kind !== 'approval' || this.#asked.has(call.call)) continue;
      const decided = new AbortController();
      this.#asked.set(call.call, decided);
      // The call waits on when the editor does not answer: whoever opens the conversation next is asked.
      this.#askOne(conversationId, workspace, call, decided.signal).catch(() => this.#asked.delete(call.call));
    }
  }

  /** Somebody decided, here or elsewhere. @param call as in `WaitingCall` */
  decided(call: string): void {
    this.#asked.get(call)?.abort();
  }

  async #askOne(conversationId: string, workspace: string, waiting: WaitingCall, signal: AbortSignal): Promise<void> {
    const { call, tool, turnId } = waiting;
    const [, callNumber = '', callIndex = ''] = call.split('.');
    const rawInput = parsed(waiting);
    const toolCall: ToolCallUpdate = {
      toolCallId: toolCallId(turnId, Number(callNumber), Number(callIndex)),
      rawInput,
      ...describeCall(tool, rawInput, workspace),
    };
    const { outcome } = await this.#editor.request<RequestPermissionResponse>(
      methods.client.session.requestPermission,
      { sessionId: conversationId, toolCall, options: [...OPTIONS] },
      { cancellationSignal: signal },
    );
    if (outcome.outcome === 'cancelled') return;
    const [verb, scope = 'call'] = outcome.optionId.split('_');
    const decision = { conversationId, call, for: scope === 'agent' ? 'agent' : 'call' } as const;
    try {
      if (verb === 'approve') await this.#client.decisions.approve(decision);
      else await this.#client.decisions.deny(decision);
    } catch (error) {
      const isLate = error instanceof HoldfastClientError && error.code === 'decision_stale';
      if (!isLate) throw error;
    }
  }
}
