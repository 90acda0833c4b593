/** Tests the connection to the database: encryption and password as in its URL. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectPostgres } from '../../../../src/edge/store/postgres/inspect.ts';
import { Cluster, postgresMissing } from '../../../postgres.ts';

describe.skipIf(postgresMissing !== undefined)(
  `the connection to PostgreSQL ${postgresMissing ?? ''}`,
  () => {
    const files = { cert: '', other: '' };
    let cluster: Cluster;
    let port: number;

    const certificate = () =>
      generate([{ name: 'commonName', value: '127.0.0.1' }], {
        algorithm: 'sha256',
        extensions: [
          { name: 'basicConstraints', cA: true },
          { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
        ],
      });

    beforeAll(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'carillon-pg-'));
      files.cert = join(folder, 'cert.pem');
      files.other = join(folder, 'other.pem');
      port = await freePort();
      const pems = await certificate();
      writeFileSync(files.cert, pems.cert);
      writeFileSync(files.other, (await certificate()).cert);
      cluster = new Cluster(folder, {
        listen_addresses: '127.0.0.1',
        port: String(port),
        ssl: 'on',
        ssl_cert_file: files.cert,
        ssl_key_file: join(folder, 'key.pem'),
      });
      cluster.keep('key.pem', pems.private);
      cluster.create('local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n');
      const db = cluster.connect('postgres', port);
      db.run(`ALTER USER carillon PASSWORD 's3cret'`);
      db.close();
    });
    afterAll(() => {
      cluster.stop();
      rmSync(cluster.folder, { recursive: true, force: true });
    });

    const url = (password: string, more: string): string =>
      `postgres://carillon:${password}@127.0.0.1:${port}/postgres?${more}`;
    const verified = (file: string): string =>
      `sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;

    it('is accepted with a valid certificate and password', () => {
      expect(inspectPostgres(url('s3cret', verified(files.cert))).version).toMatch(/^\d+\.\d+/);
    });

    it.each([
      [
        'a certificate of another host',
        's3cret',
        () => verified(files.other),
        'certificate verify',
      ],
      ['a wrong password', 'wr0ng', () => verified(files.cert), 'password authentication failed'],
      [
        'no encryption although the server requires it',
        's3cret',
        () => 'sslmode=disable',
        'no encryption',
      ],
    ])('is refused with %s, with a reason that omits the password', (_, password, more, why) => {
      const look = () => inspectPostgres(url(password, more()));
      expect(look).toThrow(why);
      expect(look).toThrow(expect.objectContaining({ code: 'STORE_BUSY' }));
      expect(look).not.toThrow(password);
    });
  },
);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
