import { answerWithRepairs } from '../call-repairs.ts';
import { ChatCollector } from './answer.ts';
import { chatDialect } from './dialect.ts';
import { chatRequest } from './request.ts';
import { OPENAI_IMAGES } from '../fit-images.ts';
import { giveWay } from '../give-way.ts';
import { answerInForm } from '../../structured-output.ts';
import type { ModelClient } from '../../model-client.ts';
import { openAISdkOf } from '../openai-sdk.ts';
import type { ProviderDefinition } from '../../provider.ts';
import { streamAnswer } from '../stream-answer.ts';
import { declaredToolName } from '../tool-names.ts';

/** A client of Chat Completions: OpenAI's, and that of every compatible server. */
export function createChatClient(provider: ProviderDefinition): ModelClient {
  const sdkOf = openAISdkOf(provider);
  const dialect = chatDialect(provider.baseUrl, provider.name);
  return {
    answer: (request, options) =>
      answerInForm(request, dialect.outputFormat, (inForm) =>
        answerWithRepairs(inForm, OPENAI_IMAGES, async ({ request: sent, thinking }) =>
          streamAnswer({
            provider,
            open: async () => {
              const sdk = await sdkOf();
              const body = chatRequest(sent, { provider: provider.name, dialect, thinking });
              await giveWay();
              return sdk.chat.completions.create(body, { signal: options.signal }).withResponse();
            },
            collector: new ChatCollector({
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
