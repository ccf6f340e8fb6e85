import type { ProviderDefinition } from '../provider.ts';
import type { ProviderKey } from '../catalogue/provider-key.ts';
import type { Transport } from './transport.ts';

/** What servers answer a key with that they no longer take. */
const REFUSED = 401;

/**
 * Puts the key of this moment into each call. A call that is refused because of it is made once more with the key
 * that is read then, if that is another one; a refusal comes before any work, so nothing is paid or done twice.
 */
export function withKey(transport: Transport, key: ProviderKey, provider: ProviderDefinition): Transport {
  const put = (init: RequestInit, value: string): RequestInit => ({
    ...init,
    headers: headersWith(init, provider, value),
  });
  return async (input, init = {}) => {
    const used = await key.current();
    const response = await transport(input, put(init, used));
    if (response.status !== REFUSED) return response;
    const other = await key.after(used);
    return other === used ? response : transport(input, put(init, other));
  };
}

function headersWith(init: RequestInit, { protocol, hosting }: ProviderDefinition, key: string): Headers {
  const headers = new Headers(init.headers);
  if (hosting?.cloud === 'azure') headers.set('api-key', key);
  else if (protocol === 'anthropic') headers.set('x-api-key', key);
  else headers.set('authorization', `Bearer ${key}`);
  return headers;
}
