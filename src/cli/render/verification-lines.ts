import type { Verification } from '../../verify/verify.ts';
import { plural } from './numbers.ts';
import type { Style } from './style.ts';

/** One line per invariant, its breaches below it, and what was looked at. */
export function verificationLines(verification: Verification, { style }: { readonly style: Style }): string[] {
  const { invariants, repeatedCalls } = verification;
  const broken = invariants.filter(({ breaches }) => breaches.length > 0);
  const looked = [
    plural(verification.conversations, 'conversation'),
    plural(verification.turns, 'turn'),
    plural(verification.entries, 'entry', 'entries'),
  ].join(', ');
  return [
    ...invariants.flatMap(({ name, holds, breaches }) => [
      `${breaches.length === 0 ? style.green('✓') : style.red('✗')} ${name}: ${style.dim(holds)}`,
      ...breaches.map((breach) => `    ${breach.conversationId}  ${breach.subject}: ${style.red(breach.found)}`),
    ]),
    ...(repeatedCalls.length === 0
      ? []
      : [
          '',
          `${plural(repeatedCalls.length, 'model call')} tried again after the loss of a worker, and perhaps paid twice (\`holdfast view <conversation> --calls\`).`,
        ]),
    '',
    broken.length === 0
      ? style.green(`${looked}: all ${invariants.length} invariants hold.`)
      : style.red(`${looked}: ${plural(broken.length, 'invariant does', 'invariants do')} not hold.`),
  ];
}
