import { jsonOf } from '../../context/log/nested-json.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { ModelAnswer, ReportedUsage, StreamDelta } from '../model-client.ts';
import { isRecord } from './json.ts';

/** Who answers. */
export interface AnswerSource {
  /** Name of the provider. */
  readonly provider: string;
  /** Translates the names of tools back to those declared. */
  readonly declaredName: (vendorName: string) => string;
}

/** Collects the events of one stream, of which every field is checked. Holds no connection, so that tests feed it events. */
export interface AnswerCollector {
  /** `open`: the answer goes on; `whole`: the server said why it ended, counts may follow; `over`: nothing follows. */
  readonly state: 'open' | 'whole' | 'over';
  /**
   * Takes the next event, or the body of an answer that did not stream, and returns what is new for a reader.
   * @throws RefusedInBody when the event is an error.
   */
  take(event: unknown): readonly StreamDelta[];
  finish(): ModelAnswer;
}

/** A call without a name is shown to the model under this one: it asked for a tool, and learns that it was none. */
export const UNNAMED = 'unnamed';

/** What a collector found, without what it did not find. */
export function collected(
  answer: Pick<ModelAnswer, 'content' | 'stopReason'>,
  usage: ReportedUsage | undefined,
  responseId: string | undefined,
): ModelAnswer {
  return { ...answer, ...definedOf({ usage, responseId }) };
}

/** A field that should hold text: what is missing is empty, and a few servers give an object instead of its JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value == null ? '' : jsonOf(value);
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
