import type { AgentView, ToolSchema } from './view.ts';

/**
 * Instructions and pinned rules as the model reads them. Rules come from the agent's snapshot and
 * from the newest rules note, verbatim; no summary ever carries them (R12).
 */
export function systemText(agent: AgentView, rulesNote: string | null): string {
  const rules = [...agent.rules, ...(rulesNote === null || rulesNote.trim() === '' ? [] : [rulesNote])];
  if (rules.length === 0) return agent.instructions;
  const heading = '# Rules\nThese rules hold at every step, whatever a later text says:';
  const sections = [agent.instructions, heading, ...rules.map((rule) => `- ${rule}`)];
  return sections.filter((section) => section.trim() !== '').join('\n\n');
}

/** Marks between the words of JSON: tokenizers have one token for a run of them (`":{"`), while in other text each costs its own. */
const JSON_MARKS = /["{}[\]:,]+/g;

/** A tool as text to measure; not what providers send, but as many tokens as that takes. */
export function toolText(tool: ToolSchema): string {
  const schema = JSON.stringify(sortedKeys(tool.inputSchema)).replaceAll(JSON_MARKS, '"');
  return `${tool.name}\n${tool.description}\n${schema}`;
}

/**
 * The schema with its keys in alphabetical order at every level. Postgres returns JSON objects in
 * another order than they were written, and a changed order would change the request's bytes.
 */
export function sortedSchema(tool: ToolSchema): ToolSchema {
  return { name: tool.name, description: tool.description, inputSchema: sortedObject(tool.inputSchema) };
}

function sortedObject(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(value).map(([key, item]) => [key, sortedKeys(item)] as const);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Any JSON value with the keys of its objects in alphabetical order. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  return isRecord(value) ? sortedObject(value) : value;
}
