import { measureContent, measureText } from './measure.ts';
import { addMeasurements, NO_MEASUREMENTS } from './measurements.ts';
import type { Measurements } from './measurements.ts';
import { runtimeContent } from '../view/notes.ts';
import { systemText, toolText } from '../view/system-text.ts';
import type { AgentView } from '../view/view.ts';

/**
 * A tool is framed like a message, and the names of its fields cost as much again: over the built-in tools and the three
 * protocols 9 to 16 tokens.
 */
const TOOL_FRAMES = 2;
/** Counters as long as any turn's. */
const LARGE_COUNTERS = { iteration: 1_000, toolCalls: 10_000 };

/** Measurements of what every request of an agent holds: instructions, rules and tool schemas. */
export function fixedMeasurements(agent: AgentView): Measurements {
  const system = { ...measureText(systemText(agent)), frames: 1 };
  const counters = agent.runtimeAdvice === undefined ? NO_MEASUREMENTS : measureContent(runtimeContent(LARGE_COUNTERS));
  return agent.tools.reduce(
    (sum, tool) => {
      const measured = { ...measureText(toolText(tool)), frames: TOOL_FRAMES };
      return addMeasurements(sum, measured);
    },
    addMeasurements(counters, system),
  );
}

export function toolsIn(fixed: Measurements): number {
  return Math.floor(fixed.frames / TOOL_FRAMES);
}
