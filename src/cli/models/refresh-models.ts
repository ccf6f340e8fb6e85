import { serverOf } from '../../config/configuration.ts';
import type { Configuration } from '../../config/configuration.ts';
import { toModelCallError } from '../../models/call-failure.ts';
import { parseModelName } from '../../models/catalogue/model-name.ts';
import type { ProviderDefinition } from '../../models/provider.ts';
import { askServedLimits } from '../../models/catalogue/served-limits.ts';
import type { ServedLimits } from '../../models/catalogue/served-limits.ts';
import type { Holdfast } from '../../client/holdfast.ts';

import { safeLine } from '../render/text/safe-text.ts';

/**
 * Asks the servers of models what they list of them, and stores it for turns that begin from now on.
 * A server that says nothing is told in a remark; what is known of its models stays.
 */
export async function refreshModels(
  client: { readonly models: Pick<Holdfast['models'], 'storeServed'> },
  {
    configuration,
    names,
    remark,
  }: {
    readonly configuration: Configuration;
    /** `provider/model` */
    readonly names: readonly string[];
    readonly remark: (text: string) => void;
  },
): Promise<void> {
  for (const name of names) {
    const { provider: providerName, model } = parseModelName(name);
    const provider = configuration.providers.find((one) => one.name === providerName);
    if (provider === undefined || provider.baseUrl === '') {
      remark(`${name} is not asked for: ${providerName} has no key or no list of models here.`);
      continue;
    }
    const listed = await asked(provider, model);
    if ('refused' in listed) {
      remark(`${name}: its server gave no list (${listed.refused}).`);
      continue;
    }
    const { window = null, maximumOutput = null } = listed;
    const server = serverOf(configuration, providerName);
    if (window === null && maximumOutput === null) remark(`${server} lists no limits of ${model}.`);
    else await client.models.storeServed({ model: name, server, window, maximumOutput });
  }
}

async function asked(
  provider: ProviderDefinition,
  model: string,
): Promise<ServedLimits | { readonly refused: string }> {
  try {
    return await askServedLimits(provider, model);
  } catch (error) {
    const { vendorMessage, status } = toModelCallError(error, provider.name);
    return { refused: safeLine(vendorMessage).slice(0, 200) || `status ${status ?? 'none'}` };
  }
}
