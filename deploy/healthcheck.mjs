// Exits with 0 while the service in this container accepts calls. Reads the address from its data folder.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; // the certificate is for the host name, not for this address
process.removeAllListeners('warning');
try {
  const folder = process.env.CARILLON_DATA_DIR ?? 'data';
  const { url } = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8'));
  const reply = await fetch(`${url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]')}/readyz`, {
    signal: AbortSignal.timeout(4000),
  });
  if (!reply.ok) throw new Error(await reply.text());
} catch (error) {
  process.stderr.write(`not ready: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
