import { methods } from '@agentclientprotocol/sdk';
import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { WaitingCall } from '../../client/types.ts';
import { HoldfastClientError } from '../../client/errors.ts';
import type { SessionOptions } from './session.ts';
import { describeCall, textUpdate } from './updates.ts';

const OPTIONS = [
  { optionId: 'approve', name: 'Allow', kind: 'allow_once' },
  { optionId: 'approve_agent', name: 'Always allow for this agent', kind: 'allow_always' },
  { optionId: 'deny', name: 'Reject', kind: 'reject_once' },
  { optionId: 'deny_agent', name: 'Always reject for this agent', kind: 'reject_always' },
] as const satisfies readonly PermissionOption[];

/** Asks the editor about calls that wait for an approval, until somebody decided. */
export class Permissions {
  readonly #options: SessionOptions;
  readonly #asked = new Map<string, AbortController>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  ask(waiting: readonly WaitingCall[]): void {
    for (const call of waiting) {
      if (call.kind !== 'approval' || this.#asked.has(call.call)) continue;
      const decided = new AbortController();
      this.#asked.set(call.call, decided);
      // The call waits on when the editor does not answer: whoever opens the conversation next is asked.
      this.#askOne(call, decided.signal).catch(() => this.#asked.delete(call.call));
    }
  }

  /** Somebody decided, here or elsewhere. @param call as in `WaitingCall` */
  decided(call: string): void {
    this.#asked.get(call)?.abort();
  }

  async #askOne(waiting: WaitingCall, decided: AbortSignal): Promise<void> {
    const { client, editor, conversationId, workspace } = this.#options;
    const { call, tool: name } = waiting;
    const [, callNumber = 0, callIndex = 0] = call.split('.').map(Number);
    const toolCall = describeCall({ ...waiting, name, callNumber, callIndex }, workspace);
    const { outcome } = await editor.request<RequestPermissionResponse>(
      methods.client.session.requestPermission,
      { sessionId: conversationId, toolCall, options: [...OPTIONS] },
      { cancellationSignal: decided },
    );
    if (outcome.outcome === 'cancelled') return;
    const { optionId } = outcome;
    const decide = optionId.startsWith('approve') ? 'approve' : 'deny';
    try {
      await client.decisions[decide]({ conversationId, call, for: optionId.endsWith('_agent') ? 'agent' : 'call' });
    } catch (error) {
      if (error instanceof HoldfastClientError && error.code !== 'decision_stale') {
        const text = `\n\n[${error.code}] ${error.message} Load the session to decide again.\n`;
        const update = textUpdate('agent_message_chunk', text);
        await editor.notify('session/update', { sessionId: conversationId, update });
      }
      throw error;
    }
  }
}
