import OpenAI, { AzureOpenAI } from 'openai';

/** The SDK keeps only `body.error`; flat bodies (Mistral, vLLM, Gemini's lists, FastAPI's `detail`) would be lost. */
export class BodyPreservingOpenAI extends OpenAI {
  protected override makeStatusError(
    ...[status, error, message, headers]: Parameters<OpenAI['makeStatusError']>
  ): ReturnType<OpenAI['makeStatusError']> {
    return Object.assign(super.makeStatusError(status, error, message, headers), { rawBody: error ?? message });
  }
}

/** The same for Azure, which wants the deployment in the path, a version, and the key in a header of its own. */
export class BodyPreservingAzure extends AzureOpenAI {
  protected override makeStatusError(
    ...[status, error, message, headers]: Parameters<OpenAI['makeStatusError']>
  ): ReturnType<OpenAI['makeStatusError']> {
    return Object.assign(super.makeStatusError(status, error, message, headers), { rawBody: error ?? message });
  }
}
