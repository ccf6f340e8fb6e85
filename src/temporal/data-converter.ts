import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';

const guardPath = fileURLToPath(new URL('./payload-guard.cjs', import.meta.url));

/** The same on the client, the worker and in the workflow bundle; see `payload-guard.cjs`. */
export const dataConverter: DataConverter = { payloadConverterPath: guardPath, failureConverterPath: guardPath };
