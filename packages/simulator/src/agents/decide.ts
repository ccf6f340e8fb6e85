import type { Draft } from '../core/answer.ts';
import type { Random } from '../core/random.ts';
import type { SimulatorRequest, ToolOffer } from '../core/request.ts';
import type { Purpose } from '../faults/fault-store.ts';
import { readDraft } from '../reader/reader.ts';
import { parseReadingTask } from '../reader/reading-task.ts';
import { summarize } from '../summary/summarize.ts';
import { newestUserText, readConversation } from './conversation.ts';
import { oneFileDraft } from './one-file.ts';
import { plainDraft } from './plain.ts';
import { scriptedDraft } from './scripted.ts';

/**
 * What the model answers. Depends on the request alone; `random` only chooses between wordings.
 * The newest text of the user decides who answers: instructions to call tools are followed to the letter, a list
 * of files with questions is worked through by the reader, a file that is to be read is read, everything else gets a
 * short answer.
 */
export function decide(request: SimulatorRequest, purpose: Purpose, random: Random): Draft {
  if (purpose === 'summary') return { text: summarize(request, random), calls: [] };
  const draft = decideAsAgent(request, random);
  switch (request.toolChoice.kind) {
    case 'none':
      return { ...draft, calls: [] };
    case 'any':
      return forced(draft, request.tools[0]);
    case 'tool': {
      const { name } = request.toolChoice;
      return forced(
        { ...draft, calls: draft.calls.filter((call) => call.name === name) },
        request.tools.find((tool) => tool.name === name),
      );
    }
    case 'auto':
      return draft;
  }
}

function decideAsAgent(request: SimulatorRequest, random: Random): Draft {
  const events = readConversation(request);
  const isReadingTask = (text: string): boolean => parseReadingTask(text, request.system) !== undefined;
  const scripted = scriptedDraft(events, random, isReadingTask);
  if (scripted !== undefined) return scripted;
  const reading = readDraft(request, events, random) ?? oneFileDraft(request, events, random);
  return reading ?? plainDraft(newestUserText(events), random);
}

/** A model that must call a tool calls one, with what the schema asks for. */
function forced(draft: Draft, tool: ToolOffer | undefined): Draft {
  if (draft.calls.length > 0 || tool === undefined) return draft;
  return { text: '', calls: [{ name: tool.name, arguments: smallestArguments(tool.inputSchema) }] };
}

function smallestArguments(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const properties = asRecord(schema['properties']);
  return Object.fromEntries(required.map((name) => [name, smallestValue(asRecord(properties[name]))]));
}

function smallestValue(schema: Readonly<Record<string, unknown>>): unknown {
  const choices = schema['enum'];
  if (Array.isArray(choices)) return choices[0] as unknown;
  switch (schema['type']) {
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'example';
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
