import { emitKeypressEvents } from 'node:readline';
import { userOfMachine } from '../../client/decision-methods.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import { definedOf } from '../../context/policy/defined-of.ts';

const HINT = 'Esc stops the turn · Ctrl-C leaves it running';
const DECIDE_HINT = 'y or n, then Enter, decides · Esc stops the turn · Ctrl-C leaves it running';
const SEND_HINT = `${HINT} · Enter sends a line into it`;
/** Characters of a typed message that are kept. */
const MOST_TYPED = 100_000;
/** Characters of its end that are shown while it is typed. */
const TYPED_SHOWN = 60;

/** A line of a chat that is for the chat. A rule to pin and a pin to remove are messages, because the turn that takes them changes the pins. */
export const CHAT_COMMAND = /^\/(?!pin[ \t]+\S|unpin[ \t]+\d+[ \t]*(?:\n|$))\w*(?=\s|$)/u;

/** What to type instead of a `/pin` without a rule or an `/unpin` without a number; `null` for every other command. */
export function pinForm(command: string): string | null {
  if (command === '/pin') return 'Type `/pin <rule>`. Nothing was sent.';
  return command === '/unpin' ? 'Type `/unpin <number>`. Nothing was sent.' : null;
}

/** What the keys of the terminal do while a turn is shown. */
interface TurnKeys {
  readonly hint: string;
  /**
   * @param calls names of the calls that wait for an approval: a line `y` or `n` decides on the first. A key alone does not, because a
   *   message that the user types or pastes meanwhile must not decide
   */
  waiting(calls: readonly string[]): void;
  close(): void;
}

interface KeyEffects {
  /** A request that a key made failed. */
  readonly failed: (error: unknown) => void;
  /** Tells the user what to type instead. */
  readonly tell: (words: string) => void;
  /** Takes a message for the turn. Left out: what is typed while no call waits counts for nothing. @returns whether it was sent */
  readonly send?: (message: string) => boolean;
}

/** `null` where there are no keys: input that is no terminal. */
export function listenForKeys(
  client: {
    readonly conversation: Pick<Holdfast['conversation'], 'stop'>;
    readonly decisions: Pick<Holdfast['decisions'], 'approve' | 'deny'>;
  },
  conversationId: string,
  { failed, tell, send }: KeyEffects,
): TurnKeys | null {
  const { stdin } = process;
  if (!stdin.isTTY) return null;
  let calls: readonly string[] = [];
  let isStopped = false;
  const decide = (how: 'approve' | 'deny', call: string): void => {
    calls = calls.slice(1);
    const decision = { conversationId, call, ...definedOf({ decidedBy: userOfMachine() }) };
    client.decisions[how](decision).catch(failed);
  };
  const typed = new TypedText((text) => {
    const [call] = calls;
    const answer = text.trim().toLowerCase();
    if (call !== undefined && (answer === 'y' || answer === 'yes')) decide('approve', call);
    else if (call !== undefined && (answer === 'n' || answer === 'no')) decide('deny', call);
    else {
      const isSent = send?.(text);
      if (call === undefined) return;
      if (isSent === undefined) tell(`Call ${call} waits: y or n, then Enter. Nothing was sent.`);
      else if (isSent) tell(`Sent. Call ${call} still waits: y or n, then Enter.`);
    }
  });
  const pressed = (text = '', key: { readonly name?: string; readonly ctrl?: boolean }): void => {
    // Raw mode takes the signal from the terminal's hands.
    if (key.ctrl === true && key.name === 'c') process.kill(process.pid, 'SIGINT');
    else if (key.name === 'escape' && !isStopped) {
      isStopped = true;
      client.conversation.stop({ conversationId }).catch(failed);
    } else typed.press(text, key.name);
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', pressed);
  stdin.resume();
  return {
    get hint() {
      const { shown } = typed;
      if (calls.length > 0) return shown === '' ? DECIDE_HINT : `> ${shown}`;
      if (send === undefined) return HINT;
      return shown === '' ? SEND_HINT : `> ${shown}`;
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

/** Text that Enter ends. Lines that are pasted together are one text, and so is a line that ends with `\` with the next one. */
class TypedText {
  readonly #entered: (text: string) => void;
  #text = '';

  constructor(entered: (text: string) => void) {
    this.#entered = entered;
  }

  /** Its end, on one line. */
  get shown(): string {
    const line = Array.from(this.#text.replaceAll('\n', ' '));
    return line.length <= TYPED_SHOWN ? line.join('') : `…${line.slice(-TYPED_SHOWN).join('')}`;
  }

  press(text: string, name: string | undefined): void {
    if (name === 'return' || name === 'enter') {
      this.#text = this.#text.endsWith('\\') ? `${this.#text.slice(0, -1)}\n` : this.#enter();
    } else if (name === 'backspace') this.#text = Array.from(this.#text).slice(0, -1).join('');
    else if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(text)) this.#text = `${this.#text}${text}`.slice(0, MOST_TYPED);
  }

  /** Pasted lines come at once, the last one perhaps without its end. */
  #enter(): string {
    setImmediate(() => {
      if (!this.#text.endsWith('\n')) return;
      const text = this.#text.trimEnd();
      this.#text = '';
      if (text !== '') this.#entered(text);
    });
    return `${this.#text}\n`;
  }
}
