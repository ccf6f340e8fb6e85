import { emitKeypressEvents } from 'node:readline';
import type { Holdfast } from '../../client/holdfast.ts';

const HINT = 'Esc stops the turn · Ctrl-C leaves it running';
const DECIDE_HINT = 'y or n, then Enter, decides · Esc stops the turn · Ctrl-C leaves it running';
/** Characters of a typed answer that are kept. */
const MOST_TYPED = 40;

/** What the keys of the terminal do while a turn is shown. */
export interface TurnKeys {
  readonly hint: string;
  /**
   * @param calls names of the calls that wait for an approval: a line `y` or `n` decides on the first. A key alone does not, because who
   *   types or pastes a message meanwhile decides nothing
   */
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
  let typed = '';
  const decide = (how: 'approve' | 'deny'): void => {
    const [call, ...rest] = calls;
    if (call === undefined) return;
    calls = rest;
    client.decisions[how]({ conversationId, call }).catch(failed);
  };
  const enter = (): void => {
    const answer = typed.toLowerCase();
    typed = '';
    if (answer === 'y' || answer === 'yes') decide('approve');
    else if (answer === 'n' || answer === 'no') decide('deny');
  };
  const pressed = (text = '', key: { readonly name?: string; readonly ctrl?: boolean }): void => {
    // Raw mode takes the signal from the terminal's hands.
    if (key.ctrl === true && key.name === 'c') process.kill(process.pid, 'SIGINT');
    else if (key.name === 'escape' && !isStopped) {
      isStopped = true;
      client.conversation.stop({ conversationId }).catch(failed);
    } else if (key.name === 'return' || key.name === 'enter') enter();
    else if (key.name === 'backspace') typed = typed.slice(0, -1);
    else if (/^[\p{L}\p{N}\p{P}\p{S} ]$/u.test(text)) typed = `${typed}${text}`.slice(0, MOST_TYPED);
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', pressed);
  stdin.resume();
  return {
    get hint() {
      if (calls.length === 0) return HINT;
      return typed === '' ? DECIDE_HINT : `> ${typed}`;
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
