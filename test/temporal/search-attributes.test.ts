import { Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { createSearchAttributes, missingSearchAttributes } from '../../src/temporal/namespace.ts';

const KEYWORD = 2;

/** An operator service with these attributes that adds none, by a code of gRPC. */
function refusing(customAttributes: Record<string, number>, code: number) {
  const operatorService = {
    listSearchAttributes: () => Promise.resolve({ customAttributes }),
    addSearchAttributes: () =>
      Promise.reject(Object.assign(new Error('denied'), { code, details: 'denied', metadata: {} })),
  };
  return { operatorService } as unknown as Connection;
}

// PERMISSION_DENIED; ALREADY_EXISTS, as one of another type does.
test.each([7, 6])('what a worker cannot create (%i) is named, with the commands for whoever can', async (code) => {
  const connection = refusing({ HoldfastConversation: KEYWORD, HoldfastAgent: KEYWORD, HoldfastModel: 1 }, code);
  expect(await missingSearchAttributes(connection, 'mail')).toEqual(['HoldfastModel', 'HoldfastTurnState']);
  const refusal = await createSearchAttributes(connection, 'mail').catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'search_attributes_missing' });
  expect((refusal as Error).message).toContain(
    'temporal operator search-attribute create --namespace mail --name HoldfastModel --type Keyword --name HoldfastTurnState --type Keyword',
  );
  expect((refusal as Error).message).toContain(
    'tcld namespace search-attributes add --namespace mail --search-attribute "HoldfastModel=Keyword"',
  );
});

// UNIMPLEMENTED, as where the operator's service is not served.
test('where the attributes are not listed, a query tells which are missing', async () => {
  const failure = (code: number) => Object.assign(new Error('no'), { code, details: 'no', metadata: {} });
  const connection = {
    operatorService: { listSearchAttributes: () => Promise.reject(failure(12)) },
    workflowService: {
      countWorkflowExecutions: ({ query }: { query: string }) =>
        query.startsWith('HoldfastModel ') ? Promise.reject(failure(3)) : Promise.resolve({ count: 0 }),
    },
  } as unknown as Connection;
  expect(await missingSearchAttributes(connection, 'mail')).toEqual(['HoldfastModel']);
});
