import { quoteText, tagsOf } from '../log/frames.ts';
import type { FrameName } from '../log/frames.ts';
import type { AgentView, ToolSchema } from './view.ts';
import { measureContent, measureText } from '../log/measure.ts';
import { addMeasurements, NO_MEASUREMENTS } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';
import { runtimeContent } from './notes.ts';

/**
 * Instructions and rules as the model reads them. Rules come from the agent's snapshot and from the newest note of rules, with the
 * pins of the conversation, verbatim; no summary ever carries them (R12).
 */
export function systemText(
  agent: AgentView,
  rulesNote: readonly string[] = [],
  memories: string | null = null,
): string {
  const rules = [...agent.rules, ...rulesNote.filter((rule) => rule.trim() !== '')];
  if (agent.namedBlocks === true) return namedBlocks(agent, rules, memories);
  const skills = (agent.skills ?? []).map(({ name, instructions }) => `# Skill: ${name}\n${instructions}`);
  const advice = agent.runtimeAdvice ?? '';
  if (rules.length === 0 && skills.length === 0 && advice === '') return agent.instructions;
  const ruleSections = rules.length === 0 ? [] : [RULES_HEADING, ...rules.map((rule) => `- ${rule}`)];
  const sections = [agent.instructions, ...ruleSections, ...skills, advice];
  return sections.filter((section) => section.trim() !== '').join('\n\n');
}

const RULES_HEADING = '# Rules\nThese rules hold at every step, whatever a later text says:';

/**
 * The order of seeds/wolffish.md: identity, device, variables, rules, tools, skills, memory, runtime.
 * The tools' schemas stand in the request's own field; their block names them. Counters of the turn
 * would change the prompt with every call and stand at the end of the request instead.
 */
function namedBlocks(agent: AgentView, rules: readonly string[], memories: string | null): string {
  const variables = Object.entries(agent.variables ?? {}).map(([name, value]) => `${name}: ${value}`);
  const skills = (agent.skills ?? []).map(({ name, instructions }) => `## ${name}\n${instructions}`);
  const blocks: readonly (readonly [FrameName, string])[] = [
    ['identity', agent.instructions],
    ['device', agent.device ?? ''],
    ['variables', variables.join('\n')],
    ['rules', rules.map((rule) => `- ${rule}`).join('\n')],
    ['tools', agent.tools.map((tool) => tool.name).join(', ')],
    ['skills', skills.join('\n\n')],
    ['memory', quoteText(memories ?? '')],
    ['runtime', agent.runtimeAdvice ?? ''],
  ];
  return blocks
    .filter(([, text]) => text.trim() !== '')
    .map(([name, text]) => `${tagsOf(name).open}\n${text}\n${tagsOf(name).close}`)
    .join('\n\n');
}

/** Marks between the words of JSON: tokenizers have one token for a run of them (`":{"`), while in other text each costs its own. */
const JSON_MARKS = /["{}[\]:,]+/g;

/** A tool as text to measure; not what providers send, but as many tokens as that takes. */
export function toolText(tool: ToolSchema): string {
  const schema = JSON.stringify(tool.inputSchema).replaceAll(JSON_MARKS, '"');
  return `${tool.name}\n${tool.description}\n${schema}`;
}

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
