// The least that counts as a worker for the local stack: it asks Temporal for work and never gets any. Its tests are about
// processes; turns are tested with the real worker.
import { Connection } from '@temporalio/client';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
if (!process.env['DATABASE_URL']?.startsWith('postgresql://')) throw new Error('DATABASE_URL is missing');
for (;;) {
  try {
    const connection = await Connection.connect({ address, connectTimeout: '2s' });
    for (;;) {
      await connection.withDeadline(Date.now() + 60_000, async () =>
        connection.workflowService.pollWorkflowTaskQueue({
          namespace: 'default',
          taskQueue: { name: 'agent-turn' },
          identity: String(process.pid),
        }),
      );
    }
  } catch {
    // The server is not there (yet): a worker outlives it.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
