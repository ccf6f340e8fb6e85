import { emitKeypressEvents } from 'node:readline';
import type { Holdfast } from '../../client/holdfast.ts';

const HINT = 'Esc stops the turn · Ctrl-C leaves it running';
const DECIDE_HINT = 'y approves · n denies · Esc stops the turn · Ctrl-C leaves it running';

/** What the keys of the terminal do while a turn is shown. */
export interface TurnKeys {
  readonly hint: string;
  /** @param calls names of the calls that wait for an approval: `y` and `n` decide on the first */
  waiting(calls: readonly string[]): void;
  close(): void;
}

/** `null` where there are no keys: input that is no terminal. */
export function listenForKeys(
  client: {
    readonly conversation: Pick<Holdfast['conversation'], 'stop'>;
    readonly decisions: Pick<Holdfast['decisions'], 'approve' | 'deny'>;
  },
  conversationId: string,
  failed: (error: unknown) => void,
): TurnKeys | null {
  const { stdin } = process;
  if (!stdin.isTTY) return null;
  let calls: readonly string[] = [];
  let isStopped = false;
  const decide = (how: 'approve' | 'deny'): void => {
    const [call, ...rest] = calls;
    if (call === undefined) return;
    calls = rest;
    client.decisions[how]({ conversationId, call }).catch(failed);
  };
  const pressed = (_text: string | undefined, key: { readonly name?: string; readonly ctrl?: boolean }): void => {
    // Raw mode takes the signal from the terminal's hands.
    if (key.ctrl === true && key.name === 'c') process.kill(process.pid, 'SIGINT');
    else if (key.name === 'escape' && !isStopped) {
      isStopped = true;
      client.conversation.stop({ conversationId }).catch(failed);
    } else if (key.name === 'y') decide('approve');
    else if (key.name === 'n') decide('deny');
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', pressed);
  stdin.resume();
  return {
    get hint() {
      return calls.length > 0 ? DECIDE_HINT : HINT;
    },
    waiting(waiting) {
      calls = waiting;
    },
    close() {
      stdin.off('keypress', pressed);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
