import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Anthropic from '@anthropic-ai/sdk';
import { property } from './json.ts';
import { ModelCallError } from '../model-client.ts';
import type { ProviderDefinition, ProviderHosting } from '../provider.ts';
import { sdkOptions } from './transport.ts';

/** The vendor's own packages for clouds; optional, because they bring the clouds' SDKs along. */
const PACKAGES = {
  bedrock: { name: '@anthropic-ai/bedrock-sdk', className: 'AnthropicBedrock' },
  vertex: { name: '@anthropic-ai/vertex-sdk', className: 'AnthropicVertex' },
} as const;

/**
 * The SDK for Claude on a cloud. Its credentials come from where that cloud's SDK looks for them (profiles,
 * roles, `AWS_…`, `GOOGLE_APPLICATION_CREDENTIALS`); Bedrock also takes a key that is configured.
 * @throws ModelCallError that says which package to install.
 */
export async function createHostedAnthropicSdk(
  provider: ProviderDefinition,
  hosting: Extract<ProviderHosting, { readonly cloud: keyof typeof PACKAGES }>,
): Promise<Pick<Anthropic, 'messages'>> {
  const { name, className } = PACKAGES[hosting.cloud];
  const constructor = property(await load(name), className);
  if (typeof constructor !== 'function') throw notUsable(name, `it has no ${className}: install another version`);
  const { apiKey: _key, defaultHeaders: _headers, ...options } = sdkOptions(provider);
  const { baseUrl, apiKey } = provider;
  const own =
    hosting.cloud === 'bedrock'
      ? { awsRegion: hosting.region, ...(apiKey === null ? {} : { apiKey }) }
      : { region: hosting.region, projectId: hosting.project };
  const sdk: Pick<Anthropic, 'messages'> = Reflect.construct(constructor, [
    { ...options, ...own, ...(baseUrl === '' ? {} : { baseURL: baseUrl }) },
  ]);
  return sdk;
}

/** From Holdfast's own surroundings, else from those of the process that uses it. */
async function load(name: string): Promise<unknown> {
  try {
    return await import(name);
  } catch {
    // Not installed beside Holdfast: it may be a dependency of the program that runs it.
  }
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve(name);
    return await import(pathToFileURL(path).href);
  } catch {
    throw notUsable(name, `install it with \`npm install ${name}\` where the worker runs`);
  }
}

/** Shown to the user as a vendor's words would be: retrying would not help. */
function notUsable(name: string, what: string): ModelCallError {
  const message = `The package ${name} cannot be used: ${what}.`;
  return new ModelCallError(message, {
    verdict: { kind: 'permanent', cause: 'unknown', repair: 'stop', evidence: `package ${name} is not usable` },
    vendorMessage: message,
  });
}
