import { fileURLToPath } from 'node:url';
import type { DataConverter, PayloadCodec } from '@temporalio/common';

const guardPath = fileURLToPath(new URL('./payload-guard.cjs', import.meta.url));

/** Shared by client, worker and workflow bundle; see `payload-guard.cjs`. */
export const dataConverter = {
  payloadConverterPath: guardPath,
  failureConverterPath: guardPath,
} satisfies DataConverter;

export function dataConverterWith(codecs: readonly PayloadCodec[]): DataConverter {
  return { ...dataConverter, payloadCodecs: [...codecs] };
}
