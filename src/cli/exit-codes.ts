/** What each exit code means. `holdfast --help` and `docs/` print this table. */
export const EXIT_CODES = {
  done: { code: 0, meaning: 'done; a watched turn completed' },
  turnNotCompleted: { code: 1, meaning: 'the turn ended with another outcome than completed' },
  usage: { code: 2, meaning: 'wrong usage or configuration, or no such conversation or entry' },
  unreachable: {
    code: 3,
    meaning: 'Postgres or Temporal is not known, does not answer, cannot write now, or needs a migration',
  },
  unreadableSession: {
    code: 4,
    meaning: 'a file of recorded sessions that cannot be used: unreadable, empty, binary or of no known format',
  },
  findings: { code: 5, meaning: 'a check found something wrong: verify, doctor, config check, model test' },
  internal: { code: 70, meaning: 'an error that Holdfast did not expect; HOLDFAST_DEBUG=1 shows its stack' },
  interrupted: { code: 130, meaning: 'interrupted with Ctrl-C; a watched turn goes on' },
  terminated: { code: 143, meaning: 'the same by SIGTERM; 129 when the terminal was closed' },
} as const;

export type ExitReason = keyof typeof EXIT_CODES;

export function describeExitCodes(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
    .join('\n');
}
