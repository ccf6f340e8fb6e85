import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { ensureNamespace } from '../../src/temporal/namespace.ts';

const failure = (code: number): Error => Object.assign(new Error('no'), { code, details: 'no', metadata: {} });

/** A client of a server that has the namespace once `has` says so, and answers a registration with this code of gRPC. */
function clientOf(code: number, has: () => boolean): Client {
  const workflowService = {
    describeNamespace: () => (has() ? Promise.resolve({ namespaceInfo: { id: '7f0c' } }) : Promise.reject(failure(5))),
    registerNamespace: () => Promise.reject(failure(code)),
    countWorkflowExecutions: () => Promise.resolve({}),
  };
  return { workflowService, options: { namespace: 'mail' } } as unknown as Client;
}

// PERMISSION_DENIED, and UNIMPLEMENTED as in Temporal Cloud.
test.each([7, 12])(
  'a namespace that a worker cannot create (%i) is named, with the commands for whoever can',
  async (code) => {
    const refusal = await ensureNamespace(clientOf(code, () => false)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'namespace_missing' });
    expect((refusal as Error).message).toContain('temporal operator namespace create --namespace mail --retention 72h');
    expect((refusal as Error).message).toContain('tcld namespace create --namespace mail --retention-days 3');
  },
);

test('a namespace that another worker creates meanwhile is taken', async () => {
  let asked = 0;
  const client = clientOf(6, () => (asked += 1) > 1);
  expect(await ensureNamespace(client)).toEqual({ name: 'mail', id: '7f0c' });
});
