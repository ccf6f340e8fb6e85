import { AnthropicCollector } from './answer.ts';
import { anthropicRequest } from './request.ts';
import { anthropicSdkOf } from './sdk.ts';
import { answerWithRepairs } from '../call-repairs.ts';
import { ANTHROPIC_IMAGES } from '../fit-images.ts';
import { giveWay } from '../give-way.ts';
import { answerInForm } from '../../structured-output.ts';
import type { ModelClient } from '../../model-client.ts';
import type { ProviderDefinition } from '../../provider.ts';
import { streamAnswer } from '../stream-answer.ts';
import { declaredToolName } from '../tool-names.ts';

/** A client of Anthropic's Messages API, or of a server that speaks it. */
export function createAnthropicClient(provider: ProviderDefinition): ModelClient {
  const sdkOf = anthropicSdkOf(provider);
  return {
    answer: (request, options) =>
      answerInForm(request, hasOutputFormat(provider, request.model), (inForm) =>
        answerWithRepairs(inForm, ANTHROPIC_IMAGES, async (attempt) =>
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
              declaredName: declaredToolName(inForm.view.tools),
            }),
            options,
            size: request.size,
          }),
        ),
      ),
  };
}

/** Claude takes the form of an answer from 4.5 on; servers that speak Anthropic's protocol leave it out in silence. */
function hasOutputFormat({ baseUrl, hosting }: ProviderDefinition, model: string): boolean {
  const isAnthropic = hosting !== undefined || /^https?:\/\/[^/]*\banthropic\.com\b/.test(baseUrl);
  return isAnthropic && !/claude-(?:[123]|instant|(?:opus|sonnet)-4(?:-[01]\b|-2025|@|$))/.test(model);
}
