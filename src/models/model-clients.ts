import { answerWithRepairs, type Attempt } from './protocols/call-repairs.ts';
import { AnthropicCollector } from './protocols/anthropic/answer.ts';
import { anthropicRequest, takesOutputFormat } from './protocols/anthropic/request.ts';
import { ChatCollector } from './protocols/chat/answer.ts';
import { chatDialect } from './protocols/chat/dialect.ts';
import { chatRequest } from './protocols/chat/request.ts';
import { ANTHROPIC_IMAGES, OPENAI_IMAGES, type ImageLimits } from './protocols/fit-images.ts';
import { giveWay } from './protocols/give-way.ts';
import { anthropicSdkOf, openAISdkOf } from './protocols/sdk.ts';
import { ResponsesCollector } from './protocols/responses/answer.ts';
import { responsesRequest } from './protocols/responses/request.ts';
import { streamAnswer, type OpenStream } from './protocols/stream-answer.ts';
import type { AnswerCollector, AnswerSource } from './protocols/answer-collector.ts';
import { declaredToolName } from './protocols/tool-names.ts';
import type { ModelClient } from './model-client.ts';
import type { ProtocolName, ProviderDefinition } from './provider.ts';
import { answerInForm } from './structured-output.ts';

/** What the protocols do each in its own way. */
interface Protocol {
  readonly images: ImageLimits;
  /** Whether the server takes the form of an answer itself. */
  readonly takesOutputFormat: (model: string) => boolean;
  readonly open: (attempt: Attempt, signal: AbortSignal) => Promise<OpenStream>;
  readonly Collector: new (source: AnswerSource) => AnswerCollector;
}

const PROTOCOLS: Readonly<Record<ProtocolName, (provider: ProviderDefinition) => Protocol>> = {
  anthropic(provider) {
    const sdkOf = anthropicSdkOf(provider);
    return {
      images: ANTHROPIC_IMAGES,
      takesOutputFormat: (model) => takesOutputFormat(provider, model),
      async open({ request, thinking }, signal) {
        const sdk = await sdkOf();
        const body = anthropicRequest(request, { provider: provider.name, thinking });
        await giveWay();
        return sdk.messages.create(body, { signal }).withResponse();
      },
      Collector: AnthropicCollector,
    };
  },
  chat(provider) {
    const sdkOf = openAISdkOf(provider);
    const dialect = chatDialect(provider.baseUrl, provider.name);
    return {
      images: OPENAI_IMAGES,
      takesOutputFormat: () => dialect.outputFormat,
      async open({ request, thinking }, signal) {
        const sdk = await sdkOf();
        const body = chatRequest(request, { provider: provider.name, dialect, thinking });
        await giveWay();
        return sdk.chat.completions.create(body, { signal }).withResponse();
      },
      Collector: ChatCollector,
    };
  },
  responses(provider) {
    const sdkOf = openAISdkOf(provider);
    return {
      images: OPENAI_IMAGES,
      takesOutputFormat: () => true,
      async open({ request, thinking }, signal) {
        const sdk = await sdkOf();
        const body = responsesRequest(request, { provider: provider.name, thinking });
        await giveWay();
        return sdk.responses.create(body, { signal }).withResponse();
      },
      Collector: ResponsesCollector,
    };
  },
};

/** A client of a provider; the vendor's SDK and its connections are made with the first call. */
export function createModelClient(provider: ProviderDefinition): ModelClient {
  const { images, takesOutputFormat: isNative, open, Collector } = PROTOCOLS[provider.protocol](provider);
  return {
    answer: (request, options) =>
      answerInForm(request, isNative(request.model), (inForm) => {
        const source = { provider: provider.name, declaredName: declaredToolName(inForm.view.tools) };
        return answerWithRepairs(inForm, images, (attempt) =>
          streamAnswer({
            provider,
            open: () => open(attempt, options.signal),
            collector: new Collector(source),
            options,
            size: request.size,
          }),
        );
      }),
  };
}

/** The clients of all configured providers by name. The returned function throws when no provider has the name. */
export function createModelClients(providers: readonly ProviderDefinition[]): (providerName: string) => ModelClient {
  const clients = new Map(providers.map((provider) => [provider.name, createModelClient(provider)]));
  return (providerName) => {
    const client = clients.get(providerName);
    if (client !== undefined) return client;
    const names = [...clients.keys()].join(', ') || 'none';
    throw new Error(`No provider is named "${providerName}". Configured providers: ${names}.`);
  };
}
