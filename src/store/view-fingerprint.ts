import { createHash } from 'node:crypto';
import { canonicalView } from '../context/project-view.ts';
import type { View } from '../context/view.ts';

/** SHA-256 of a view's canonical text, in hexadecimal: equal for two views exactly when they are equal byte for byte. */
export function viewFingerprint(view: View): string {
  return createHash('sha256').update(canonicalView(view)).digest('hex');
}
