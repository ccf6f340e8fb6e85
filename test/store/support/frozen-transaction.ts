/** A process whose transaction is open while it is frozen; it prints what its caller got and whether the pool works again. */
import { connectDatabase } from '../../../src/store/database/database.ts';
import { outageOf } from '../../../src/store/database/errors.ts';

const sql = connectDatabase({ url: process.argv[2] ?? '', applicationName: 'frozen', maximumConnections: 1 });
const outcome: unknown = await sql
  .begin(async (open) => {
    await open`insert into pairs values (1, 1)`;
    process.stdout.write('open\n');
    // Until the server has ended the connection: it is frozen meanwhile.
    for (;;) await open`select pg_sleep(0)`.then(async () => new Promise((resolve) => setTimeout(resolve, 200)));
  })
  .catch((error: unknown) => error);
process.stdout.write(`${outageOf(outcome) ?? String(outcome)}\n`);
const [row] = await sql<{ value: string }[]>`select 'works' as value`;
process.stdout.write(`${row?.value ?? ''}\n`);
await sql.end();
