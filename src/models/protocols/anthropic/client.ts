import { AnthropicCollector } from './answer.ts';
import { anthropicRequest } from './request.ts';
import { anthropicSdkOf } from './sdk.ts';
import { answerWithRepairs } from '../call-repairs.ts';
import { ANTHROPIC_IMAGES } from '../fit-images.ts';
import { giveWay } from '../give-way.ts';
import type { ModelClient } from '../../model-client.ts';
import type { ProviderDefinition } from '../../provider.ts';
import { streamAnswer } from '../stream-answer.ts';
import { declaredToolName } from '../tool-names.ts';

/** A client of Anthropic's Messages API, or of a server that speaks it. */
export function createAnthropicClient(provider: ProviderDefinition): ModelClient {
  const sdkOf = anthropicSdkOf(provider);
  return {
    answer: (request, options) =>
      answerWithRepairs(request, ANTHROPIC_IMAGES, async (attempt) =>
        streamAnswer({
          provider,
          open: async () => {
            const sdk = await sdkOf();
            const { request: sent, thinking } = attempt;
            const body = anthropicRequest(sent, { provider: provider.name, thinking });
            await giveWay();
            return sdk.messages.create(body, { signal: options.signal }).withResponse();
          },
          collector: new AnthropicCollector({
            provider: provider.name,
            declaredName: declaredToolName(request.view.tools),
          }),
          options,
          size: request.size,
        }),
      ),
  };
}
