import type { Conversation, WaitingCall } from '../../../client/types.ts';
import { questionIn } from './decision-state.ts';
import { formatTimeLeft } from '../text/numbers.ts';
import { safeLine, safeText } from '../text/safe-text.ts';

/** What waits for the user, whole: nobody can decide on half of a command. Its further lines are set off, so that none reads as another call. */
export function waitingCallWords(
  { kind, call, tool, arguments: text, rules, expiresAt }: WaitingCall,
  now: number,
): string {
  const asked = kind === 'question' ? safeText(questionIn(text)) : `${safeLine(tool)} ${safeText(text)}`;
  const verb = kind === 'question' ? 'asks' : 'waits for approval';
  const why = kind === 'question' ? '' : `${rules.length > 1 ? 'rules' : 'rule'}: ${rulesWords(rules, 'and')}; `;
  return `call ${call} ${verb}: ${asked.replaceAll('\n', '\n  ')} (${why}expires ${formatTimeLeft(expiresAt, now)})`;
}

/** Rules on one line. */
export function rulesWords(rules: readonly string[], between: 'and' | 'or'): string {
  return rules.map(safeLine).join(` ${between} `);
}

/** Commands that decide on the first call of each kind, to be copied. */
export function decideLines({
  conversationId,
  waitingCalls,
}: Pick<Conversation, 'conversationId' | 'waitingCalls'>): string[] {
  const approval = waitingCalls.find(({ kind }) => kind === 'approval');
  const question = waitingCalls.find(({ kind }) => kind === 'question');
  return [approval, question].flatMap((call) =>
    call === undefined ? [] : [`  next: ${decideCommand(conversationId, call)}`],
  );
}

/** The command that decides on a call. */
export function decideCommand(conversationId: string, { call, kind }: Pick<WaitingCall, 'call' | 'kind'>): string {
  const conversation = conversationId.slice(-8);
  return kind === 'approval'
    ? `npx holdfast approve ${conversation} ${call} (or deny)`
    : `npx holdfast answer ${conversation} "…" --call ${call}`;
}
