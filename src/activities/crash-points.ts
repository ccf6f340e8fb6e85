/**
 * Named places where a worker can be made to die, to show and to test that nothing is lost there.
 * Off unless `HOLDFAST_CRASH_POINTS` names one: `runTool:claimed@8` kills the process with SIGKILL
 * at the eighth arrival, `summarize:answered` at the first; several are separated by commas.
 */
export const CRASH_POINTS = [
  'beginTurn:written',
  'takeMessages:written',
  'compactContext:planned',
  'summarize:registered',
  'summarize:answered',
  'summarize:stored',
  'commitCompaction:written',
  'callModel:registered',
  'callModel:answered',
  'callModel:stored',
  'requestDecisions:written',
  'runTool:claimed',
  'runTool:finished',
  'runTool:stored',
  'endTurn:written',
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Called at each named place; returns unless this is where the process was told to die. */
export type ReachCrashPoint = (point: CrashPoint) => void;

/**
 * @param setting value of `HOLDFAST_CRASH_POINTS`; empty or absent: no crash point.
 * @throws RangeError naming an unknown point or a count that is no positive integer.
 */
export function parseCrashPoints(setting: string | undefined): ReachCrashPoint {
  const remaining = new Map<CrashPoint, number>();
  for (const item of (setting ?? '').split(',').filter((text) => text.trim() !== '')) {
    const [name = '', count = '1'] = item.trim().split('@');
    const point = CRASH_POINTS.find((known) => known === name);
    if (point === undefined || !/^[1-9]\d*$/.test(count)) {
      throw new RangeError(
        `HOLDFAST_CRASH_POINTS: "${item}" is not a crash point; use <point> or <point>@<arrival>, points: ${CRASH_POINTS.join(', ')}`,
      );
    }
    remaining.set(point, Number(count));
  }
  return (point) => {
    const left = remaining.get(point);
    if (left === undefined) return;
    remaining.set(point, left - 1);
    // SIGKILL to oneself: nothing of the process, not even an exit handler, can run after it.
    if (left === 1) process.kill(process.pid, 'SIGKILL');
  };
}
