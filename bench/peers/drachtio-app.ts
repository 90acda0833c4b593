/**
 * The B2BUA from the documentation of drachtio-srf. Runs as a child process with the server as its own child, and reports
 * to its parent when it is connected. Both end with the parent.
 *
 *     fork('drachtio-app.ts', [JSON of Given])
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

export interface Given {
  readonly server: string;
  readonly srf: string;
  readonly config: string;
  readonly admin: { readonly host: string; readonly port: number; readonly secret: string };
  /** Destination of calls. */
  readonly callee: string;
}

interface Dialog {
  on(event: 'destroy', received: () => void): void;
  destroy(): void;
}
interface Srf {
  connect(admin: Given['admin']): void;
  on(event: 'connect' | 'error', received: (error?: Error) => void): void;
  invite(handle: (request: { readonly body: string }, response: object) => void): void;
  createB2BUA(
    request: object,
    response: object,
    uri: string,
    options: { readonly localSdpB: string },
  ): Promise<{ readonly uas: Dialog; readonly uac: Dialog }>;
}

const given = JSON.parse(process.argv[2] ?? '') as Given;
const server = spawn(given.server, ['-f', given.config], { stdio: 'ignore' });
server.once('exit', () => process.exit(1));
process.once('disconnect', () => server.kill('SIGKILL'));

const Srf = createRequire(import.meta.url)(given.srf) as new () => Srf;
const srf = new Srf();
srf.on('connect', (error) => {
  if (!error) process.send?.('connected');
});
// The server is not up yet: it is tried again.
srf.on('error', () => undefined);
srf.invite((request, response) => {
  srf.createB2BUA(request, response, given.callee, { localSdpB: request.body }).then(
    ({ uas, uac }) => {
      uas.on('destroy', () => uac.destroy());
      uac.on('destroy', () => uas.destroy());
    },
    // The caller received the failure, which the measurement counts.
    () => undefined,
  );
});
srf.connect(given.admin);
