import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTemporalProfile, temporalAt } from '../../src/temporal/profile.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-profile-'));
  file = join(directory, 'temporal.toml');
  await writeFile(join(directory, 'client.pem'), 'certificate');
  await writeFile(join(directory, 'client.key'), 'key');
  await writeFile(
    file,
    `[profile.default]
address = "default:7233"
[profile.cloud]
address = "cloud:7233"
namespace = "mail.a1b2c"
[profile.cloud.tls]
client_cert_path = "${join(directory, 'client.pem')}"
client_key_path = "${join(directory, 'client.key')}"
server_name = "mail"
[profile.cloud.codec]
endpoint = "https://codec/{namespace}"
auth = "Bearer x"
[profile.cloud.grpc_meta]
team = "mail"
`,
  );
});
afterAll(async () => rm(directory, { recursive: true, force: true }));

test('a profile that a variable names gives address, certificates, codec and headers; variables win over it', () => {
  const profile = readTemporalProfile({
    TEMPORAL_CONFIG_FILE: file,
    TEMPORAL_PROFILE: 'cloud',
    TEMPORAL_NAMESPACE: 'own',
  });
  expect(profile).toMatchObject({
    address: 'cloud:7233',
    namespace: 'own',
    tls: { serverNameOverride: 'mail', clientCertPair: { crt: bytes('certificate'), key: bytes('key') } },
    codec: { endpoint: 'https://codec/{namespace}', authorization: 'Bearer x' },
    metadata: { team: 'mail' },
  });
  expect(readTemporalProfile({ TEMPORAL_CONFIG_FILE: file })).toEqual({ address: 'default:7233' });
});

test("the file of Temporal's own CLI counts only when it is asked for", () => {
  expect(readTemporalProfile({ HOME: directory, XDG_CONFIG_HOME: directory, TEMPORAL_API_KEY: 'k' })).toEqual({
    apiKey: 'k',
    tls: true,
  });
});

test('the address that was found wins, with the key and the certificates of the environment', () => {
  const servers = { temporalAddress: 'here:7233', temporalNamespace: 'default' };
  expect(temporalAt(servers, { TEMPORAL_ADDRESS: 'there:1', TEMPORAL_TLS: 'true' })).toEqual({
    address: 'here:7233',
    namespace: 'default',
    tls: {},
  });
});

test.each([
  [{ TEMPORAL_PROFILE: 'cloud', TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' }, "'cloud' not found"],
  [{ TEMPORAL_TLS_CLIENT_CERT_PATH: '/nowhere.pem' }, '/nowhere.pem'],
  [{ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' }, 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'],
])('%j is refused with what is wrong', (environment, named) => {
  expect(() => readTemporalProfile(environment)).toThrow(expect.objectContaining({ code: 'temporal_profile_invalid' }));
  expect(() => readTemporalProfile(environment)).toThrow(named);
});
