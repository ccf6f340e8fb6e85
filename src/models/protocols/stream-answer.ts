import type { AnswerCollector } from './answer-collector.ts';
import { withBaseUrlAdvice } from '../catalogue/base-url-advice.ts';
import { AbortError, BrokenAnswerError, NotAStreamError, toModelCallError } from '../call-failure.ts';
import { dropUnwrittenCall } from './drop-unwritten-call.ts';
import { givingWay } from './give-way.ts';
import type { ModelAnswer, RequestSize, StreamOptions } from '../model-client.ts';
import type { ProviderDefinition } from '../provider.ts';

/** What the SDKs hand out for a streaming call. */
interface OpenStream<StreamEvent> {
  readonly data: AsyncIterable<StreamEvent>;
  readonly response: Response;
}

/**
 * Reads one streamed answer to its end.
 * @throws ModelCallError, classified.
 * @throws AbortError when the signal was aborted, whatever else went wrong meanwhile.
 */
export async function streamAnswer<StreamEvent>(call: {
  readonly provider: ProviderDefinition;
  readonly open: () => Promise<OpenStream<StreamEvent>>;
  readonly collector: AnswerCollector<StreamEvent>;
  readonly options: StreamOptions;
  /** Of the request. */
  readonly size: RequestSize | undefined;
}): Promise<ModelAnswer> {
  const { provider, open, collector, options, size } = call;
  try {
    const { data, response } = await open();
    await refuseOtherThanStream(response);
    // Events that came together are read without a pause between them.
    const afterEvent = givingWay();
    for await (const event of data) {
      for (const delta of collector.take(event)) options.onDelta(delta);
      await afterEvent();
    }
    // Both SDKs end an aborted stream silently, as if it were complete.
    if (options.signal.aborted) throw new AbortError('The model call was aborted.');
    const answer = collector.finish();
    if (answer === undefined) throw new BrokenAnswerError('the stream ended in the middle of the answer');
    return dropUnwrittenCall(answer);
  } catch (error) {
    if (options.signal.aborted) throw new AbortError('The model call was aborted.');
    throw withBaseUrlAdvice(toModelCallError(error, provider.name, size), provider);
  }
}

/** Proxies and some servers report an error as JSON or HTML with HTTP 200 (oobabooga/textgen#7257). */
async function refuseOtherThanStream(response: Response): Promise<void> {
  const type = response.headers.get('content-type') ?? '';
  if (!/json|html|xml/i.test(type) || /event-stream|ndjson/i.test(type)) return;
  throw new NotAStreamError({ status: response.status, headers: response.headers, body: await response.text() });
}
