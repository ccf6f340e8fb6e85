import { createHash } from 'node:crypto';
import type { View } from '../../context/view/view.ts';
import { giveWay, givingWay } from '../../models/protocols/give-way.ts';

/**
 * Half of the SHA-256 of a view's JSON, in base64url: equal for two views when they are equal byte for byte. Columns of type json keep
 * the order of keys. Message by message, because a view of a million tokens takes 50 ms, in which a worker would serve no other turn.
 */
export async function viewFingerprint(view: View): Promise<string> {
  const { messages, ...rest } = view;
  await giveWay();
  const hash = createHash('sha256').update(JSON.stringify(rest));
  const afterMessage = givingWay();
  for (const message of messages) {
    hash.update(JSON.stringify(message));
    await afterMessage();
  }
  return hash.digest('base64url').slice(0, 22);
}
