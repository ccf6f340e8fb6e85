import type { ModelAnswer, StreamDelta } from '../model-client.ts';

/** Internal: an error that came as an event of a stream that began well. The client classifies its body. */
export class StreamFailure extends Error {
  override readonly name = 'StreamFailure';
  /** The event's error, whatever its shape. */
  readonly body: unknown;

  constructor(body: unknown) {
    super('The provider ended the stream with an error.');
    this.body = body;
  }
}

/** Collects the events of one stream. Holds no connection, so that tests feed it events. */
export interface AnswerCollector<StreamEvent> {
  /**
   * Takes the next event and returns what is new for a reader.
   * @throws StreamFailure when the event is an error.
   */
  take(event: StreamEvent): readonly StreamDelta[];
  /** The answer; `undefined` when the stream ended before the vendor said why it stopped. */
  finish(): ModelAnswer | undefined;
}
