import { answerWithRepairs } from '../call-repairs.ts';
import { OPENAI_IMAGES } from '../fit-images.ts';
import { giveWay } from '../give-way.ts';
import type { ModelClient } from '../../model-client.ts';
import { openAISdkOf } from '../openai-sdk.ts';
import { ResponsesCollector } from './answer.ts';
import { responsesRequest } from './request.ts';
import type { ProviderDefinition } from '../../provider.ts';
import { streamAnswer } from '../stream-answer.ts';
import { declaredToolName } from '../tool-names.ts';

/** A client of OpenAI's Responses API, or of a server that speaks it. */
export function createResponsesClient(provider: ProviderDefinition): ModelClient {
  const sdkOf = openAISdkOf(provider);
  return {
    answer: (request, options) =>
      answerWithRepairs(request, OPENAI_IMAGES, async ({ request: sent, thinking }) =>
        streamAnswer({
          provider,
          open: async () => {
            const sdk = await sdkOf();
            const body = responsesRequest(sent, { provider: provider.name, thinking });
            await giveWay();
            return sdk.responses.create(body, { signal: options.signal }).withResponse();
          },
          collector: new ResponsesCollector({
            provider: provider.name,
            declaredName: declaredToolName(request.view.tools),
          }),
          options,
          size: request.size,
        }),
      ),
  };
}
