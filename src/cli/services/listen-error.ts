import { errorCode } from '../../local/stack-error.ts';
import { UsageError } from '../usage-error.ts';

const ANY_ADDRESS = 'Leave --host out, or name an address of this machine.';

/** Words a failure to listen for a user; anything else stays as it is. */
export function listenError(error: unknown, host: string, port: number): unknown {
  const causes: Readonly<Record<string, readonly [string, string]>> = {
    EADDRINUSE: [`Port ${port} of ${host} is taken.`, 'Choose another with --port, or --port 0 for a free one.'],
    EACCES: [`This user may not listen on port ${port}.`, 'Choose a port above 1023 with --port.'],
    EADDRNOTAVAIL: [`${host} is no address of this machine.`, ANY_ADDRESS],
    ENOTFOUND: [`${host} is no address of this machine.`, ANY_ADDRESS],
    server_address_refused: [error instanceof Error ? error.message : '', ANY_ADDRESS],
  };
  const cause = causes[errorCode(error) ?? ''];
  return cause === undefined ? error : new UsageError('usage', ...cause);
}
