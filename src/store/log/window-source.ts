import type { Measurements } from '../../context/log/measurements.ts';
import type { Calibration } from '../../context/plan/plan.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { readCalibration } from '../providers/calibrations.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { readCurrentPoint, readViewOutline } from '../compactions/plan-source.ts';
import type { ViewOutline } from '../compactions/plan-source.ts';
import { readLastTurn, readSnapshot } from '../turns/turns.ts';

export interface WindowSource extends ViewOutline {
  readonly snapshot: AgentSnapshot;
  readonly fixed: Measurements;
  readonly calibration: Calibration;
}

export async function readWindowSource(sql: Database, conversationId: string): Promise<WindowSource | null> {
  if (!isId(conversationId)) return null;
  const [point, turn] = await Promise.all([readCurrentPoint(sql, conversationId), readLastTurn(sql, conversationId)]);
  if (point === null || turn === null) return null;
  const [outline, { snapshot, fixed }] = await Promise.all([
    readViewOutline(sql, point),
    readSnapshot(sql, turn.turn.turnId),
  ]);
  const calibration = await readCalibration(sql, {
    conversationId,
    model: snapshot.model,
    limits: snapshot.modelLimits,
  });
  return { ...outline, snapshot, fixed, calibration };
}
