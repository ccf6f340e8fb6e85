import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { METADATA_ENCODING_KEY } from '@temporalio/common';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { expect, inject, onTestFinished, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { scriptedActivities, startWorkerOfActivities } from './support/worker-of-activities.ts';

const ENCODING = 'binary/encrypted';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type Keys = Readonly<Record<string, Buffer>>;

/** What an application may bring: encrypts with its newest key, knows the former ones, and leaves alone what it did not encrypt. */
function encryption(newest: string, keys: Keys): PayloadCodec {
  const encrypt = ({ metadata, data }: Payload): Payload => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', keys[newest] ?? '', nonce);
    const sealed = Buffer.concat([cipher.update(data ?? Buffer.alloc(0)), cipher.final()]);
    return {
      metadata: { ...metadata, [METADATA_ENCODING_KEY]: Buffer.from(ENCODING), key: Buffer.from(newest) },
      data: Buffer.concat([nonce, cipher.getAuthTag(), sealed]),
    };
  };
  const decrypt = (payload: Payload): Payload => {
    const { key: keyName, ...metadata } = payload.metadata ?? {};
    if (keyName === undefined) return payload;
    const name = Buffer.from(keyName).toString();
    const key = keys[name];
    if (key === undefined) throw new Error(`no key ${name}`);
    const bytes = Buffer.from(payload.data ?? []);
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const data = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return { metadata: { ...metadata, [METADATA_ENCODING_KEY]: Buffer.from('json/plain') }, data };
  };
  return {
    encode: (payloads) => Promise.resolve(payloads.map(encrypt)),
    decode: async (payloads) => payloads.map(decrypt),
  };
}

const KEYS: Keys = { old: randomBytes(32), new: randomBytes(32) };

async function startTurn(worker: PayloadCodec, client: readonly PayloadCodec[] = []) {
  const started = await startWorkerOfActivities(inject('temporalAddress'), scriptedActivities({}), {
    worker: [worker],
    client,
  });
  onTestFinished(() => started.stop());
  const conversationId = randomUUID();
  const handle = await started.temporal.workflow.start('agentTurn', {
    args: [{ conversationId }],
    workflowId: turnWorkflowId(conversationId),
    taskQueue: started.taskQueue,
  });
  return handle;
}

test("an application's codec encrypts what Temporal stores, and reads what is there: plain, and of its former key", async () => {
  const rotated = encryption('new', KEYS);
  for (const client of [[], [encryption('old', KEYS)]]) {
    const handle = await startTurn(rotated, client);
    const { events } = await handle.fetchHistory();
    await handle.result().catch(() => undefined);
    expect(events?.length).toBeGreaterThan(0);
    expect(await handle.describe()).toMatchObject({ status: { name: 'COMPLETED' } });
    const history = JSON.stringify((await handle.fetchHistory()).events);
    const encrypted = Buffer.from(ENCODING).toString('base64');
    expect(history).toContain(encrypted);
  }
});

test.each(['decode', 'encode'] as const)(
  'a turn waits for a codec that cannot %s, and goes on with it',
  async (what) => {
    const codec = encryption('new', KEYS);
    let failures = 0;
    const handle = await startTurn({
      ...codec,
      [what]: (payloads: Payload[]) => {
        failures += 1;
        // Decoding gives up in between, and Temporal repeats the task.
        return failures < 7 ? Promise.reject(new Error('no key k3')) : codec[what](payloads);
      },
    });
    await handle.result().catch(() => undefined);
    expect(await handle.describe()).toMatchObject({ status: { name: 'COMPLETED' } });
    expect(failures).toBeGreaterThan(6);
  },
);
