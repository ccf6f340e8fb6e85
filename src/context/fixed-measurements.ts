import { measureText } from './measure.ts';
import { addMeasurements, NO_MEASUREMENTS } from './measurement-arithmetic.ts';
import type { Measurements } from './measurements.ts';
import { systemText, toolText } from './system-text.ts';
import type { AgentView } from './view.ts';

/** Measurements of what every request of an agent holds: instructions, rules and tool schemas. */
export function fixedMeasurements(agent: AgentView): Measurements {
  const system = { ...measureText(systemText(agent, null)), frames: 1 };
  return agent.tools.reduce(
    (sum, tool) => {
      const measured = { ...measureText(toolText(tool)), frames: 1 };
      return addMeasurements(sum, measured);
    },
    addMeasurements(NO_MEASUREMENTS, system),
  );
}
