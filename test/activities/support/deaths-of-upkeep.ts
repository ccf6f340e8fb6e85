import type { CrashPoint } from '../../../src/activities/crash-points.ts';

/** Where workers die in `upkeep-deaths.test.ts`: no turn reaches these. */
export const DEATHS_OF_UPKEEP = [
  'ringForWaitingMessages:rung',
  'repairLostTurns:interrupted',
  'repairLostTurns:rung',
  'indexFallenBehind:taken-apart',
  'indexFallenBehind:indexed',
  'deleteExpired:forgotten',
  'deleteExpired:deleted',
] as const satisfies readonly CrashPoint[];
