import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  /** Paths of PEM files. */
  readonly authority: string;
  readonly server: string;
  readonly serverKey: string;
  readonly client: string;
  readonly clientKey: string;
}

/** An authority of its own, with a certificate for a server on this machine and one for a client. */
export function makeCertificates(directory: string): Certificates {
  const file = (name: string): string => join(directory, name);
  const openssl = (...words: readonly string[]): void => {
    const { status, stderr } = spawnSync('openssl', words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`openssl ${words[0] ?? ''}: ${stderr}`);
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2'];
  openssl('req', '-x509', ...key, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-days', '2', '-subj', '/CN=Test');
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  for (const name of ['server', 'client']) {
    openssl('req', ...key, '-keyout', file(`${name}.key`), '-out', file(`${name}.csr`), '-subj', `/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      file(`${name}.csr`),
      ...authority,
      '-out',
      file(`${name}.pem`),
      '-extfile',
      file('names'),
    );
  }
  return {
    authority: file('ca.pem'),
    server: file('server.pem'),
    serverKey: file('server.key'),
    client: file('client.pem'),
    clientKey: file('client.key'),
  };
}
